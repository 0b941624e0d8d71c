"""Store of run folders: find finished runs, resume interrupted ones, train new ones."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from daxy import trackers
from daxy.core import interrupts
from daxy.core.errors import Diverged, RunFailed, in_one_line, require
from daxy.core.locks import exclusive_lock
from daxy.learners import Job
from daxy.runs.environment import describe, resumed
from daxy.runs.evaluate import finish
from daxy.runs.fitted import fits
from daxy.runs.folder import RunFolder, check_left
from daxy.runs.monitor import Logger, Monitor
from daxy.runs.run import Run
from daxy.runs.tracking import Tracking

RESUMES = "resuming from the saved state"
BEGINS_AGAIN = "beginning again; the interrupted run saved no state"
AGAIN = "correct this and run the same command again"
KEPT = f"{AGAIN}: the weights are kept, and only the scores are missing"
"""Advice after an error of a metric or a predictor when training has ended."""


@dataclass(frozen=True)
class Plan:
    """Runs to resume and runs to begin."""

    resumed: Sequence[Sequence[Run]]
    """Interrupted groups; a group may have runs that were not requested."""
    new: Sequence[Run]
    """Other runs that are not finished."""

    @property
    def missing(self) -> list[Run]:
        """All runs that are not finished."""
        return [*chain.from_iterable(self.resumed), *self.new]


@dataclass(frozen=True)
class RunStore:
    """Folder of run folders."""

    folder: Path
    checkpoint_seconds: float = 30.0
    test_every: int = 0
    """Epochs between two test scores in the log; 0 for none."""
    patience: float = 0.0
    """Seconds to wait for another process that trains the same runs."""
    trackers: tuple[str, ...] = ()
    """Names of the trackers that get the logs too."""

    def __post_init__(self) -> None:
        for name in self.trackers:
            trackers.get(name)  # A missing package is refused before training.
        every = self.test_every
        require(every >= 0, f"test-every must not be negative: {every}")

    def check(self) -> None:
        """Check that the folder can have run folders.

        Raises:
            RunFailed: it is a file.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise RunFailed(f"cannot write {self.folder}: it is not a folder")

    def complete(self, runs: Sequence[Run], monitor: Monitor | None = None) -> None:
        """Train the missing runs together; their learners have one shape.

        Raises:
            WrongRequest: a learner and a task do not go together, or no output could be right.
            Interrupted: by a signal; the same call resumes.
            RunFailed: a run folder is damaged or not writable, or another process trains a run.
            Diverged: some runs diverged; all others are finished.
        """
        self.check()
        plan = self.plan(runs)
        self.check_evaluated(runs, plan.missing)
        for note in dict.fromkeys(run.check() for run in plan.missing):
            if note and monitor:
                monitor.note(note)
        self.tidy(runs)
        diverged: Diverged | None = None
        for group in (*plan.resumed, *([plan.new] if plan.new else [])):
            group[0].learner.prepare()
            try:
                with self.locked([run.within(self.folder) for run in group]):
                    # Another process may have finished them meanwhile.
                    if not all(run.within(self.folder).has_ended for run in group):
                        self._fit(group, monitor or Monitor())
            except Diverged as error:
                diverged = diverged or error  # The other groups still train.
        self.track(runs)
        if diverged:
            raise diverged

    def track(self, runs: Sequence[Run]) -> None:
        """Send the logs of finished runs to the trackers that lack them."""
        if not self.trackers:
            return
        with closing(Tracking(self.trackers)) as tracking:
            for folder in (run.within(self.folder) for run in runs):
                # Another process that holds the lock also sends the log.
                if folder.has_ended and tracking.is_missing(folder):
                    with suppress(RunFailed), self.locked([folder]):
                        tracking.finish(folder)

    def plan(self, runs: Sequence[Run]) -> Plan:
        """Return the groups to resume and the runs to begin.

        Raises:
            RunFailed: a folder is damaged.
        """
        missing = self.missing(runs)
        requested = {run.name: run for run in missing}
        groups: dict[tuple[str, ...], list[Run]] = {}
        new: list[Run] = []
        for run in missing:
            if any(run.name in names for names in groups):
                continue
            names = run.within(self.folder).group
            if names and self._can_resume(run, names):
                groups[names] = [self._group_member(name, run, requested) for name in names]
            else:
                new.append(run)
        return Plan(list(groups.values()), new)

    def missing(self, runs: Sequence[Run]) -> list[Run]:
        """Return the runs that are not finished.

        Raises:
            RunFailed: a finished run folder is damaged.
        """
        return [run for run in runs if not run.is_done(self.folder)]

    def _can_resume(self, run: Run, names: tuple[str, ...]) -> bool:
        """Whether the state of an interrupted run's group exists.

        The folder of the group's first run decides, as this run may have begun again since, in
        another group.

        Raises:
            RunFailed: the state belongs to other runs.
        """
        first = RunFolder(self.folder / names[0])
        if not first.has_state or first.group != names:
            return False
        owners = run.learner.owners(first.workdir)
        if owners and owners != names:
            others = f"it is the state of {in_one_line(', '.join(owners))}"
            raise RunFailed(f"{first.workdir} is damaged: {others}; train again with `--restart`")
        return True

    def _group_member(self, name: str, run: Run, requested: dict[str, Run]) -> Run:
        """Return a member of an interrupted run's group, by name.

        Raises:
            RunFailed: its folder is missing or damaged.
        """
        folder = RunFolder(self.folder / name)
        if folder.path.exists():
            return run.like(folder.checked_config())
        if name in requested:
            return requested[name]  # A requested run without a folder begins again.
        gone = f"was interrupted with {name}, whose folder is gone"
        raise RunFailed(f"{run.name} {gone}; train that run too, or use `--restart`")

    @contextmanager
    def locked(self, folders: Sequence[RunFolder]) -> Generator[None]:
        """Lock these run folders against other processes."""
        with ExitStack() as locks:
            for folder in folders:
                busy = f"{folder.path}: another process trains this run; wait for it, or stop it"
                locks.enter_context(exclusive_lock(folder.path, busy, self.patience))
            yield

    def _fit(self, group: Sequence[Run], monitor: Monitor) -> None:
        """Train and finish a group of runs; the caller holds their locks."""
        folders = [run.within(self.folder) for run in group]
        jobs = [self.job(run) for run in group]
        self._check_group(folders)
        tracking = Tracking(self.trackers, monitor)
        with interrupts.advice(interrupts.SAVED), closing(tracking):
            results = fits(jobs, Logger(folders, tracking))
            if folders[0].has_state:
                monitor.note(RESUMES)
            elif any(folder.has_begun for folder in folders):
                monitor.note(BEGINS_AGAIN)
            self._begin(group, folders)
            tracking.begin(folders)
            monitor.begin(group)
            try:
                first = next(results)
            finally:
                monitor.end()
            parts = [
                (run.split.test, run.split.validation)[: 2 - run.learner.test_only] for run in group
            ]
            monitor.scoring(sum(map(len, chain.from_iterable(parts))))
            failure = None
            for run, folder, fit in zip(group, folders, chain([first], results), strict=True):
                if isinstance(fit, Exception):
                    failure = fit
                    continue
                if not folder.has_ended:
                    try:
                        finish(run, folder, fit)
                    except Exception as error:
                        error.add_note(KEPT if folders[0].has_state else AGAIN)
                        raise
                tracking.finish(folder)
        shutil.rmtree(jobs[0].workdir, ignore_errors=True)
        self._tidy_group(folders)
        if failure:
            raise Diverged(f"{failure}; the other runs of the group are finished")

    def job(self, run: Run) -> Job:
        """Return the learner's job of a run in this store."""
        return run.job(
            self.folder, checkpoint_seconds=self.checkpoint_seconds, test_every=self.test_every
        )

    def _check_group(self, folders: Sequence[RunFolder]) -> None:
        """Check that no other process began the first run in another group before the locks.

        Raises:
            RunFailed: one did.
        """
        if folders[0].has_state and folders[0].group != tuple(it.path.name for it in folders):
            other = f"{folders[0].path} was begun with other runs meanwhile"
            raise RunFailed(f"{other}; run the command again")

    def _begin(self, group: Sequence[Run], folders: Sequence[RunFolder]) -> None:
        """Write the configuration and environment of each run, if they changed.

        Raises:
            RunFailed: a run began on other data.
        """
        resumes = folders[0].has_state
        now = describe([run.name for run in group], group[0].learner.environment())
        environment = resumed(folders[0].environment(), now) if resumes else now
        for folder, run in zip(folders, group, strict=True):
            current = environment | {"checksum": run.split.provenance.checksum}
            if files := run.data.located:
                current |= {"files": files}
            before = folder.environment() if resumes else {}
            if before.get("checksum") not in (None, "", current["checksum"]):
                other = f"{folder.path} was begun on other data than {run.task} has now"
                raise RunFailed(f"{other}; train again with `--restart`")
            if not folder.has_ended and before != current:
                folder.begin(run.config, current)

    def check_evaluated(self, runs: Sequence[Run], missing: Sequence[Run]) -> None:
        """Check that finished runs have the test scores by epoch that `test_every` requires.

        A run that ended before its first evaluation needs none.

        Raises:
            WrongRequest: a run is finished without test scores, or has too few epochs for one.
            RunFailed: a log is damaged.
        """
        if not self.test_every:
            return
        names = {run.name for run in missing}
        for run in runs:
            folder, epochs = run.within(self.folder), run.learner.max_epochs
            never = f"test-every {self.test_every} is more than the {epochs} epochs"
            require(self.test_every <= epochs, f"{never} that {run.name} has")
            is_fine = run.name in names or folder.was_evaluated(self.test_every)
            late = f"{folder.path} is finished and has no test scores in its log"
            require(is_fine, f"{late}; `--restart` trains it again")

    def clear(self, runs: Sequence[Run]) -> None:
        """Delete the folders of these runs.

        Raises:
            WrongRequest: this would delete the state of other interrupted runs.
            RunFailed: another process trains one of them, or a folder cannot be deleted.
        """
        names = {run.name for run in runs}
        all_folders = (run.within(self.folder) for run in runs)
        # A process can hold only some locks, and a table may have thousands of runs.
        folders = [folder for folder in all_folders if folder.path.exists()]
        with self.locked(folders):
            for folder in folders:
                left = [name for name in self._state_owners(folder) if name not in names]
                check_left(folder.path, left)
            for folder in folders:
                try:
                    if folder.path.exists():
                        folder.delete()
                except OSError as error:
                    why = error.strerror or error
                    raise RunFailed(f"cannot delete {folder.path}: {why}") from error

    def _state_owners(self, folder: RunFolder) -> list[str]:
        """Return the unfinished runs whose state is in this folder."""
        if not folder.has_state:
            return []
        try:
            return [name for name in folder.group if not RunFolder(self.folder / name).has_ended]
        except RunFailed:
            return []  # A damaged state cannot be resumed.

    def tidy(self, runs: Sequence[Run]) -> None:
        """Delete leftovers of killed processes from finished runs and their groups.

        States of unfinished runs stay, and so do locked folders. A failed deletion is no error.
        """
        folders = {run.name: run.within(self.folder) for run in runs}
        for folder in [*folders.values()]:
            if folder.has_ended:
                with suppress(RunFailed):
                    folders |= {name: RunFolder(self.folder / name) for name in folder.group}
        leftovers = self._leftovers()
        for name, folder in folders.items():
            if folder.has_ended and (name in leftovers or folder.has_strays):
                with suppress(RunFailed, OSError), self.locked([folder]):
                    self._drop_strays(folder, leftovers.get(name, []))

    def _tidy_group(self, folders: Sequence[RunFolder]) -> None:
        """Delete leftovers of killed processes from these runs; the caller holds their locks."""
        leftovers = self._leftovers()
        for folder in folders:
            if folder.has_ended:
                with suppress(RunFailed, OSError):
                    self._drop_strays(folder, leftovers.get(folder.path.name, []))

    def _leftovers(self) -> dict[str, list[Path]]:
        """Return lock files and half-deleted run folders, by the name of the run."""
        paths: dict[str, list[Path]] = {}
        for path in self.folder.glob(".*"):
            name, _, kind = path.name[1:].rpartition(".")
            if kind == "lock":
                paths.setdefault(name, [])  # Taking and releasing the lock deletes the file.
            elif kind == "tmp":
                paths.setdefault(name.rpartition(".")[0], []).append(path)
        return paths

    def _drop_strays(self, folder: RunFolder, doomed: Sequence[Path]) -> None:
        """Delete what does not belong to a finished run; the caller holds its lock.

        Raises:
            RunFailed: the environment is damaged, so that the owners of the state are unknown.
            OSError: a deletion failed.
        """
        folder.drop_unfinished_files()
        for path in doomed:
            shutil.rmtree(path)
        if all(RunFolder(self.folder / name).has_ended for name in folder.group):
            shutil.rmtree(folder.workdir, ignore_errors=True)

    def epochs_done(self, group: Sequence[Run]) -> int:
        """Return the number of epochs that an interrupted group has trained."""
        return group[0].learner.epochs_done(group[0].within(self.folder).workdir)
