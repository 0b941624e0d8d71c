"""Callbacks for groups of runs, and the log of each run folder."""

from __future__ import annotations

from collections.abc import Sequence

from daxy.learners import Callbacks, Progress
from daxy.runs.folder import RunFolder
from daxy.runs.run import Run


class Monitor(Callbacks):
    """Callbacks for a group of runs that trains together; by default they do nothing."""

    def note(self, text: str) -> None:
        """Handle a note for the user, before training."""

    def begin(self, runs: Sequence[Run]) -> None:
        """Handle the start or resume of a group."""

    def end(self) -> None:
        """Handle the end or interruption of the group's training."""

    def scoring(self, examples: int) -> None:
        """Handle the start of scoring, with the number of examples to predict."""


class Logger(Callbacks):
    """Callbacks that write each epoch to the run folders' logs, and call other callbacks."""

    def __init__(self, folders: Sequence[RunFolder], callbacks: Callbacks) -> None:
        self._folders = folders
        self._callbacks = callbacks
        self._logged: list[int] | None = None
        """Number of records in each log; None before the logs are aligned."""

    def stepped(self, progress: Progress, examples: int) -> None:
        """Align the logs with the training state."""
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
        """Return the number of records in each log; rewrite the logs at the first call.

        A killed run may have logged an epoch after its last checkpoint, or have lost records. A
        resumed run may end an epoch before any step.
        """
        if self._logged is None:
            self._logged = [len(log) for log in progress.logs]
            for folder, log in zip(self._folders, progress.logs, strict=True):
                if not folder.has_ended:
                    folder.write_log(log)
        return self._logged
