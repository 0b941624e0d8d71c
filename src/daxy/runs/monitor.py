"""Callbacks for runs that are made, and the log that each run folder keeps."""

from __future__ import annotations

from collections.abc import Sequence

from daxy.learners import Callbacks, Progress
from daxy.runs.folder import RunFolder
from daxy.runs.run import Run


class Monitor(Callbacks):
    """Callbacks for groups of runs (progress bar, logger); these do nothing."""

    def note(self, text: str) -> None:
        """A user should know this before the runs are fitted."""

    def begin(self, runs: Sequence[Run]) -> None:
        """Fitting of these runs together begins, or resumes."""

    def end(self) -> None:
        """Fitting of the group has ended, or was interrupted."""

    def scoring(self, examples: int) -> None:
        """So many examples of the test and the validation sets are to be predicted."""


class Logger(Callbacks):
    """Writes each epoch into the log of each run folder, and passes everything on."""

    def __init__(self, folders: Sequence[RunFolder], callbacks: Callbacks) -> None:
        self._folders = folders
        self._callbacks = callbacks
        self._logged: list[int] | None = None
        """Number of records in each log; None until the logs end where fitting is."""

    def stepped(self, progress: Progress, examples: int) -> None:
        """Align the logs with where fitting is."""
        self._align(progress)
        self._callbacks.stepped(progress, examples)

    def epoch_ended(self, progress: Progress) -> None:
        """Write the epoch's records."""
        logged = self._align(progress)
        for number, (folder, log) in enumerate(zip(self._folders, progress.logs, strict=True)):
            if not folder.has_ended:
                for record in log[logged[number] :]:
                    folder.log(record)
            logged[number] = len(log)
        self._callbacks.epoch_ended(progress)

    def _align(self, progress: Progress) -> list[int]:
        """Return the number of records in each log, after the first call exactly those known.

        A killed run may have logged an epoch that its saved state does not know of, or have lost
        what it logged. A resumed one may report an epoch's end before any step, or neither.
        """
        if self._logged is None:
            self._logged = [len(log) for log in progress.logs]
            for folder, log in zip(self._folders, progress.logs, strict=True):
                if not folder.has_ended:
                    folder.write_log(log)
        return self._logged
