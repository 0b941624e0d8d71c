"""Folders of runs: find the finished, resume the interrupted, fit the missing."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from daxy.core import interrupts
from daxy.core.errors import Diverged, RunFailed, in_one_line, require
from daxy.core.locks import exclusive_lock
from daxy.learners import Job
from daxy.runs.environment import describe, resumed
from daxy.runs.evaluate import finish
from daxy.runs.folder import RunFolder, check_left
from daxy.runs.monitor import Logger, Monitor
from daxy.runs.run import Run


@dataclass(frozen=True)
class Plan:
    """The work that a list of runs needs."""

    resumed: Sequence[Sequence[Run]]
    """Groups that were interrupted; a group may have runs that were not asked for."""
    new: Sequence[Run]
    """Other runs that are not finished."""

    @property
    def missing(self) -> list[Run]:
        """All runs that are not finished."""
        return [*chain.from_iterable(self.resumed), *self.new]


@dataclass(frozen=True)
class RunStore:
    """A folder of run folders."""

    folder: Path
    checkpoint_seconds: float = 30.0
    test_every: int = 0
    """Epochs between two scores on the test set, for the log alone; 0: none."""
    patience: float = 0.0
    """Seconds to wait for another process that fits the same runs, before that is an error."""

    def __post_init__(self) -> None:
        every = self.test_every
        require(every >= 0, f"test-every must not be negative: {every}")

    def check(self) -> None:
        """Refuse a path that cannot have run folders.

        Raises:
            RunFailed: it is a file.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise RunFailed(f"cannot write {self.folder}: it is not a folder")

    def complete(self, runs: Sequence[Run], monitor: Monitor | None = None) -> None:
        """Fit what is missing of these runs, whose learners have one shape, together.

        Raises:
            WrongRequest: a learner and a task do not go together, or no output could be right.
            Interrupted: by a signal; asking again resumes.
            RunFailed: a run folder is damaged or cannot be written, or another process fits a run.
            Diverged: some of them did; all others are finished.
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
                diverged = diverged or error  # the other groups can be fitted all the same
        if diverged:
            raise diverged

    def plan(self, runs: Sequence[Run]) -> Plan:
        """Return which runs are to be resumed, as the groups they were, and which are new.

        Raises:
            RunFailed: a folder is damaged.
        """
        missing = self.missing(runs)
        asked = {run.name: run for run in missing}
        groups: dict[tuple[str, ...], list[Run]] = {}
        new: list[Run] = []
        for run in missing:
            if any(run.name in names for names in groups):
                continue
            names = run.within(self.folder).group
            if names and self._can_resume(run, names):
                groups[names] = [self._member(name, run, asked) for name in names]
            else:
                new.append(run)
        return Plan(list(groups.values()), new)

    def missing(self, runs: Sequence[Run]) -> list[Run]:
        """Return the runs that are not finished.

        Raises:
            RunFailed: one is, but its folder is damaged.
        """
        return [run for run in runs if not run.is_done(self.folder)]

    def _can_resume(self, run: Run, names: tuple[str, ...]) -> bool:
        """Whether the state of the group is there in which a run was interrupted.

        The first run may have begun anew since, in another group: its word decides.

        Raises:
            RunFailed: the state is that of other runs.
        """
        first = RunFolder(self.folder / names[0])
        if not first.has_state or first.group != names:
            return False
        owners = run.learner.owners(first.workdir)
        if owners and owners != names:
            others = f"it is the state of {in_one_line(', '.join(owners))}"
            raise RunFailed(f"{first.workdir} is damaged: {others}; train again with `--restart`")
        return True

    def _member(self, name: str, run: Run, asked: dict[str, Run]) -> Run:
        """Return a run of the group in which another run was interrupted.

        Raises:
            RunFailed: its folder is gone, or damaged.
        """
        folder = RunFolder(self.folder / name)
        if folder.path.exists():
            return run.like(folder.own_config())
        if name in asked:
            return asked[name]  # A folder that is gone begins again, if its run is asked for.
        gone = f"was interrupted with {name}, whose folder is gone"
        raise RunFailed(f"{run.name} {gone}; train that run too, or use `--restart`")

    @contextmanager
    def locked(self, folders: Sequence[RunFolder]) -> Generator[None]:
        """Keep other processes from fitting or deleting these runs."""
        with ExitStack() as held:
            for folder in folders:
                busy = f"{folder.path}: another process trains this run; wait for it, or stop it"
                held.enter_context(exclusive_lock(folder.path, busy, self.patience))
            yield

    def _fit(self, group: Sequence[Run], monitor: Monitor) -> None:
        """Fit and finish a group of runs, whose locks are held."""
        folders = [run.within(self.folder) for run in group]
        jobs = [self.job(run) for run in group]
        self._check_group(folders)
        with interrupts.advice(interrupts.SAVED):
            fits = group[0].learner.fit(jobs, Logger(folders, monitor))
            self._begin(group, folders)
            monitor.begin(group)
            try:
                first = next(fits)
            finally:
                monitor.end()
            parts = [
                (run.split.test, run.split.validation)[: 2 - run.learner.test_only] for run in group
            ]
            monitor.scoring(sum(map(len, chain.from_iterable(parts))))
            failure = None
            for run, folder, fit in zip(group, folders, chain([first], fits), strict=True):
                if isinstance(fit, Exception):
                    failure = fit
                elif not folder.has_ended:
                    finish(run, folder, fit)
        shutil.rmtree(jobs[0].workdir, ignore_errors=True)
        self._tidy_group(folders)
        if failure:
            raise Diverged(f"{failure}; the other runs of the group are finished")

    def job(self, run: Run) -> Job:
        """Return a run as its learner has it, in this folder."""
        return run.job(
            self.folder, checkpoint_seconds=self.checkpoint_seconds, test_every=self.test_every
        )

    def _check_group(self, folders: Sequence[RunFolder]) -> None:
        """Refuse a group whose first run was begun with others while nobody held the locks.

        Raises:
            RunFailed: it was.
        """
        if folders[0].has_state and folders[0].group != tuple(each.path.name for each in folders):
            other = f"{folders[0].path} was begun with other runs meanwhile"
            raise RunFailed(f"{other}; run the command again")

    def _begin(self, group: Sequence[Run], folders: Sequence[RunFolder]) -> None:
        """Write the configuration and the environment of each run, unless nothing changed.

        Raises:
            RunFailed: a run was begun on other data.
        """
        resumes = folders[0].has_state
        here = describe([run.name for run in group], group[0].learner.environment())
        environment = resumed(folders[0].environment(), here) if resumes else here
        for folder, run in zip(folders, group, strict=True):
            own = environment | {"checksum": run.split.provenance.checksum}
            before = folder.environment() if resumes else {}
            if before.get("checksum") not in (None, "", own["checksum"]):
                other = f"{folder.path} was begun on other data than {run.task} has now"
                raise RunFailed(f"{other}; train again with `--restart`")
            if not folder.has_ended and before != own:
                folder.begin(run.config, own)

    def check_evaluated(self, runs: Sequence[Run], missing: Sequence[Run]) -> None:
        """Refuse runs without the test scores by epoch that are asked for.

        One whose training ended by itself before its first evaluation has all that it can have.

        Raises:
            WrongRequest: a run is finished without, or too short for one.
            RunFailed: a log is damaged.
        """
        if not self.test_every:
            return
        names = {run.name for run in missing}
        for run in runs:
            folder, epochs = run.within(self.folder), run.learner.max_epochs
            never = f"test-every {self.test_every} is more than the {epochs} epochs"
            require(self.test_every <= epochs, f"{never} that {run.name} has")
            known = run.name in names or folder.was_evaluated(self.test_every)
            late = f"{folder.path} is finished and has no test scores in its log"
            require(known, f"{late}; `--restart` trains it again")

    def clear(self, runs: Sequence[Run]) -> None:
        """Delete the folders of these runs.

        Raises:
            WrongRequest: other runs were interrupted beside them, and would begin anew as well.
            RunFailed: another process fits one of them, or a folder cannot be deleted.
        """
        names = {run.name for run in runs}
        every = (run.within(self.folder) for run in runs)
        # A process can hold only so many locks: a table may have thousands of runs.
        folders = [folder for folder in every if folder.path.exists()]
        with self.locked(folders):
            for folder in folders:
                left = [name for name in self._interrupted_beside(folder) if name not in names]
                check_left(folder.path, left)
            for folder in folders:
                try:
                    if folder.path.exists():
                        folder.delete()
                except OSError as error:
                    why = error.strerror or error
                    raise RunFailed(f"cannot delete {folder.path}: {why}") from error

    def _interrupted_beside(self, folder: RunFolder) -> list[str]:
        """Return the runs that are not finished and whose state lies in this folder."""
        if not folder.has_state:
            return []
        try:
            return [name for name in folder.group if not RunFolder(self.folder / name).has_ended]
        except RunFailed:
            return []  # a damaged state cannot be resumed

    def tidy(self, runs: Sequence[Run]) -> None:
        """Delete what killed processes left beside finished runs of these, and of their groups.

        States from which other runs resume stay, and so does what another process holds. A failure
        to delete is no error for a request of finished runs.
        """
        folders = {run.name: run.within(self.folder) for run in runs}
        for folder in [*folders.values()]:
            if folder.has_ended:
                with suppress(RunFailed):
                    folders |= {name: RunFolder(self.folder / name) for name in folder.group}
        hidden = self._hidden()
        for name, folder in folders.items():
            if folder.has_ended and (name in hidden or folder.has_strays):
                with suppress(RunFailed, OSError), self.locked([folder]):
                    self._drop_strays(folder, hidden.get(name, []))

    def _tidy_group(self, folders: Sequence[RunFolder]) -> None:
        """Delete what earlier, killed processes left beside these runs, whose locks are held."""
        hidden = self._hidden()
        for folder in folders:
            if folder.has_ended:
                with suppress(RunFailed, OSError):
                    self._drop_strays(folder, hidden.get(folder.path.name, []))

    def _hidden(self) -> dict[str, list[Path]]:
        """Return the locks, and the run folders that are being deleted, by the name of the run."""
        paths: dict[str, list[Path]] = {}
        for path in self.folder.glob(".*"):
            name, _, kind = path.name[1:].rpartition(".")
            if kind == "lock":
                paths.setdefault(name, [])  # Taking the lock and leaving it deletes the file.
            elif kind == "tmp":
                paths.setdefault(name.rpartition(".")[0], []).append(path)
        return paths

    def _drop_strays(self, folder: RunFolder, doomed: Sequence[Path]) -> None:
        """Delete what does not belong to a finished run, whose lock is held.

        Raises:
            RunFailed: its environment is damaged, so that the owners of its state are unknown.
            OSError: something cannot be deleted.
        """
        folder.drop_unfinished_files()
        for path in doomed:
            shutil.rmtree(path)
        if all(RunFolder(self.folder / name).has_ended for name in folder.group):
            shutil.rmtree(folder.workdir, ignore_errors=True)

    def epochs_done(self, group: Sequence[Run]) -> int:
        """Return for how many epochs a group had been fitted when it was interrupted."""
        return group[0].learner.epochs_done(group[0].within(self.folder).workdir)
