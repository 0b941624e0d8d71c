"""One learner on one task's data, for any number of seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from daxy.core.errors import RunFailed
from daxy.learners import Learner
from daxy.runs.folder import RunFolder
from daxy.runs.monitor import Monitor
from daxy.runs.run import Run, check_seeds
from daxy.runs.store import RunStore
from daxy.tasks import DatasetOptions


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One learner on one task's data, for any number of seeds."""

    task: str
    learner: Learner
    data: DatasetOptions
    folder: Path = Path("runs")
    """Folder of the run folders."""
    checkpoint_seconds: float = 30.0
    test_every: int = 0
    trackers: tuple[str, ...] = ()
    """See `RunStore`."""

    def __post_init__(self) -> None:
        # Training may carve a validation set from the published data.
        object.__setattr__(self, "data", self.data.for_training())

    @property
    def store(self) -> RunStore:
        """The folder of the run folders."""
        return RunStore(
            self.folder, self.checkpoint_seconds, self.test_every, trackers=self.trackers
        )

    def of(self, seed: int) -> Run:
        """Return the run with this seed."""
        return Run(task=self.task, learner=self.learner, data=self.data, seed=seed)

    def finished(self, seeds: Sequence[int]) -> list[RunFolder]:
        """Return the folders of the finished runs among those with these seeds."""
        runs = [self.of(seed) for seed in seeds]
        return [run.within(self.folder) for run in runs if run.is_done(self.folder)]

    def run(
        self, seeds: Sequence[int], *, monitor: Monitor | None = None, restart: bool = False
    ) -> list[RunFolder]:
        """Return the finished run of each seed; missing runs train together.

        Runs that were interrupted together are resumed together, to the same bits. `restart`
        deletes the runs first.

        Raises:
            Interrupted: by a signal; the same call resumes.
            RunFailed: a run folder is damaged or cannot be written.
            WrongRequest: learner and task do not go together, or no output could be right.
        """
        check_seeds(seeds)
        return self.complete([self.of(seed) for seed in seeds], monitor=monitor, restart=restart)

    def complete(
        self, runs: Sequence[Run], *, monitor: Monitor | None = None, restart: bool = False
    ) -> list[RunFolder]:
        """Return the finished folders of runs with learners of one shape; see `run`."""
        if restart:
            for run in runs:
                run.check()
            self.store.check_evaluated(runs, missing=runs)
            self.store.clear(runs)
        self.store.complete(runs, monitor)
        folders = [run.within(self.folder) for run in runs]
        for folder in folders:
            if not folder.has_ended:
                raise RunFailed(f"{folder.path} was not finished; run the command again")
            if folder.checksum != folders[0].checksum:
                other = f"{folder.path} is a run on other data than {folders[0].path}"
                raise RunFailed(f"{other}, though the task has one version; use `--restart`")
        return folders
