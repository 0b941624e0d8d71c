"""Make sure that runs exist: find the finished, resume the interrupted, train the missing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from safetensors.numpy import save

from daxy import tasks
from daxy.batching.table import Words
from daxy.core import interrupts
from daxy.core.errors import Diverged, RunFailed, in_one_line, require
from daxy.core.examples import Examples, Sequences
from daxy.core.files import write_bytes
from daxy.core.locks import alone
from daxy.core.split import Split
from daxy.core.vocabulary import Vocabulary
from daxy.experiments.environment import describe, resumed
from daxy.experiments.request import RunConfig, run_config
from daxy.experiments.resolve import load
from daxy.experiments.run_folder import RunFolder, check_left
from daxy.formats import predictions as prediction_files
from daxy.learners.neural import Fitted, Group, Member, Neural, every_symbol, of_settings
from daxy.tasks import Data
from daxy.training.backend import backend
from daxy.training.checkpoint import Checkpoint, damaged
from daxy.training.compilation import keep_compilations
from daxy.training.devices import use_every_core
from daxy.training.loop import Listener, Position, lost


@cache
def words(task: str, data: Data) -> Words:
    """Return the words of a task's data, on which the shape of its networks depends."""
    split = load(task, data)
    if split.stream is not None:
        return every_symbol([split])
    parts = split.train, split.validation, split.test
    sources = Vocabulary.of(*(part.source for part in parts))
    return sources, Vocabulary.of(*(part.target for part in parts))


@dataclass(frozen=True, kw_only=True)
class Run:
    """One network that is asked for: a learner on a task's data, from a seed."""

    task: str
    learner: Neural
    data: Data
    seed: int

    @property
    def split(self) -> Split:
        """Its data."""
        return load(self.task, self.data)

    @cached_property
    def config(self) -> RunConfig:
        """What its folder is named after."""
        return run_config(self.task, self.data, self.split, self.learner.settings(), self.seed)

    @property
    def examples(self) -> int:
        """How many examples it trains on, counted as often as they come; at most."""
        recipe = self.learner.protocol
        return recipe.total_steps * recipe.batch_size or recipe.epochs * len(self.split.train)

    def within(self, folder: Path) -> RunFolder:
        """Return its run folder, there or not."""
        return RunFolder(folder / self.config.name)

    def is_done(self, folder: Path) -> bool:
        """Whether its run folder there is finished, whole, and no copy of another run's.

        Raises:
            RunFailed: it is finished, and is not whole or is a copy.
        """
        there = self.within(folder)
        return there.is_done() and bool(there.own_config())

    @classmethod
    def of(cls, config: RunConfig, official: Path | None = None) -> Run:
        """Return the run of a configuration; official files come from where they are here."""
        return cls(
            task=config.task,
            learner=of_settings(config.learner),
            data=tasks.data(config.task, **config.choices, official=official),
            seed=config.seed,
        )

    def like(self, config: RunConfig) -> Run:
        """Return the run of that configuration, on the same kind of data as this one."""
        same = config.data == self.config.data
        return replace(
            Run.of(config), data=self.data if same else replace(self.data, **config.choices)
        )


class Watcher(Listener, Protocol):
    """What hears how a group of runs gets on; a progress display, or nobody."""

    def begins(self, runs: Sequence[Run]) -> None:
        """Training of these runs as one program begins, or goes on."""
        ...

    def ended(self) -> None:
        """Training of the group ended, or was interrupted."""
        ...

    def scoring(self, examples: int) -> None:
        """The networks are asked about so many examples of the test and the validation set."""
        ...


class Silent:
    """A watcher that says nothing."""

    def begins(self, runs: Sequence[Run]) -> None:
        """Ignore it."""

    def stepped(self, position: Position, steps: int, examples: int) -> None:
        """Ignore it."""

    def epoch_ended(self, position: Position) -> None:
        """Ignore it."""

    def ended(self) -> None:
        """Ignore it."""

    def scoring(self, examples: int) -> None:
        """Ignore it."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One learner on one task's data, for any number of seeds."""

    task: str
    learner: Neural
    data: Data
    folder: Path = Path("runs")
    """Where run folders are found and made."""
    checkpoint_seconds: float = 30.0
    test_every: int = 0
    """See `Workshop`."""

    def __post_init__(self) -> None:
        # Data is as published until somebody trains on it.
        object.__setattr__(self, "data", self.data.for_training())

    def of(self, seed: int) -> Run:
        """Return the run with this seed."""
        return Run(task=self.task, learner=self.learner, data=self.data, seed=seed)

    def at(self, learning_rate: float) -> Experiment:
        """Return the same with another learning rate."""
        recipe = replace(self.learner.protocol, learning_rate=learning_rate)
        return replace(self, learner=replace(self.learner, protocol=recipe))

    def finished(self, seeds: Sequence[int]) -> list[RunFolder]:
        """Return the folders of those of these seeds' runs that are finished."""
        runs = [self.of(seed) for seed in seeds]
        return [run.within(self.folder) for run in runs if run.is_done(self.folder)]

    def limited(self) -> str:
        """Say how many targets of the test are longer than outputs can be; nothing if none is.

        Raises:
            WrongRequest: all are; or learner and task do not go together.
        """
        self._check_fit()
        return limited(self.learner.protocol.max_decode_length, load(self.task, self.data).test)

    def _check_fit(self) -> None:
        """Refuse a learner that does not go with the task, before anything is made for it."""
        grounded, model = tasks.get(self.task).grounded, self.learner.model
        blind = f"{model} has no input for worlds, which {self.task} needs"
        require(self.learner.sees_worlds or not grounded, f"{blind}; see `daxy models`")
        needless = f"{model} needs worlds, and {self.task} has none"
        require(grounded or not self.learner.sees_worlds, needless)
        ends = f"{self.task} has a fixed number of examples; expected --no-online"
        online = self.learner.protocol.online
        require(tasks.get(self.task).endless or not online, ends)
        shard = getattr(self.data, "shard", "1/1")
        idle = f"--shard {shard} is a part of train, and online training does not use train"
        require(shard == "1/1" or not online, f"{idle}; leave it out, or say --no-online")

    def run(
        self, seeds: Sequence[int], *, watcher: Watcher | None = None, restart: bool = False
    ) -> list[RunFolder]:
        """Return the finished run of each seed, training those that are missing as one program.

        Runs that were interrupted together are resumed together, to the same bits. `restart`
        deletes what there is of the asked runs first.

        Raises:
            Interrupted: by a signal; asking again resumes.
            RunFailed: a run folder is damaged or cannot be written.
            WrongRequest: learner and task do not go together, or nothing it says could be right.
        """
        check_seeds(seeds)
        return self.complete([self.of(seed) for seed in seeds], watcher=watcher, restart=restart)

    def complete(
        self, runs: Sequence[Run], *, watcher: Watcher | None = None, restart: bool = False
    ) -> list[RunFolder]:
        """Return the finished run folders of runs on this task, of one shape; see `run`."""
        self.limited()
        workshop = Workshop(self.folder, self.checkpoint_seconds, self.test_every)
        if restart:
            workshop.check_evaluated(runs, missing=runs)
            workshop.clear(runs)
        workshop.complete(runs, watcher)
        folders = [run.within(self.folder) for run in runs]
        for folder in folders:
            if not folder.has_ended:
                raise RunFailed(f"{folder.path} was not finished; run the command again")
        return folders


@dataclass(frozen=True)
class Workshop:
    """A folder where run folders are found and made."""

    folder: Path
    checkpoint_seconds: float = 30.0
    test_every: int = 0
    """After every so many epochs the test set is scored, and the log has it; 0: never."""
    patience: float = 0.0
    """Seconds to wait for another process that trains the same runs, before that is an error."""

    def __post_init__(self) -> None:
        every = self.test_every
        require(every >= 0, f"test-every must not be negative: {every}")

    def check(self) -> None:
        """Refuse a place for run folders that cannot have any.

        Raises:
            RunFailed: it is a file.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise RunFailed(f"cannot write {self.folder}: it is not a folder")

    def clear(self, runs: Sequence[Run]) -> None:
        """Delete what there is of these runs.

        Raises:
            WrongRequest: other runs were interrupted beside them, and would begin anew as well.
            RunFailed: another process trains one of them, or a folder cannot be deleted.
        """
        names = {run.config.name for run in runs}
        every = (run.within(self.folder) for run in runs)
        # A process can hold only so many locks: a table may have thousands of runs.
        folders = [folder for folder in every if folder.path.exists()]
        with self._alone(folders):
            for folder in folders:
                left = [one for one in self._interrupted_beside(folder) if one not in names]
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
        if not folder.checkpoint.exists():
            return []
        try:
            return [name for name in folder.group if not RunFolder(self.folder / name).has_ended]
        except RunFailed:
            return []  # what is damaged cannot go on, beside whatever it was

    @contextmanager
    def _alone(self, folders: Sequence[RunFolder]) -> Generator[None]:
        """Let no other process train, or delete, these runs."""
        with ExitStack() as held:
            for folder in folders:
                busy = f"{folder.path}: another process trains this run; wait for it, or stop it"
                held.enter_context(alone(folder.path, busy, self.patience))
            yield

    def complete(self, runs: Sequence[Run], watcher: Watcher | None = None) -> None:
        """Train what is missing of these runs, which have one shape, as one program.

        Those that were interrupted as a group, beside others perhaps, go on as that group.

        Raises:
            Interrupted: by a signal; asking again resumes.
            RunFailed: a run folder is damaged or cannot be written, or another process trains a
                run.
            Diverged: some of them did; all others are finished.
        """
        self.check()
        prepare()
        missing = self.missing(runs)
        self.check_evaluated(runs, missing)
        begun, new = self.sorted(missing)
        self.tidy(runs)
        diverged: Diverged | None = None
        for group in (*begun, *([new] if new else [])):
            try:
                self._train(group, watcher or Silent())
            except Diverged as error:
                diverged = diverged or error  # the other groups can be trained all the same
        if diverged:
            raise diverged

    def check_evaluated(self, runs: Sequence[Run], missing: Sequence[Run]) -> None:
        """Refuse runs without the evaluations that are asked for: finished, or too short for one.

        One whose training ended by itself before its first evaluation has all that it can have.

        Raises:
            WrongRequest: there is one.
            RunFailed: a log is damaged.
        """
        if not self.test_every:
            return
        names = {run.config.name for run in missing}
        for run in runs:
            folder, epochs = run.within(self.folder), run.learner.protocol.max_epochs
            never = f"test-every {self.test_every} is more than the {epochs} epochs"
            require(self.test_every <= epochs, f"{never} that {run.config.name} has")
            known = run.config.name in names or folder.was_evaluated(self.test_every)
            late = f"{folder.path} is finished and has no test scores in its log"
            require(known, f"{late}; `--restart` trains it again")

    def missing(self, runs: Sequence[Run]) -> list[Run]:
        """Return the runs that are not finished.

        Raises:
            RunFailed: one is, but its folder is damaged.
        """
        return [run for run in runs if not run.is_done(self.folder)]

    def sorted(self, missing: Sequence[Run]) -> tuple[list[list[Run]], list[Run]]:
        """Return the groups that were interrupted and go on as they were, and the other runs.

        A group may have runs that were not asked for.
        """
        known = {run.config.name: run for run in missing}
        begun: dict[tuple[str, ...], list[Run]] = {}
        new: list[Run] = []
        for run in missing:
            names = run.within(self.folder).group
            if any(run.config.name in group for group in begun):
                continue
            first = RunFolder(self.folder / names[0]) if names else None
            # The first run may have begun anew since, in another group: its word decides.
            if first and first.checkpoint.exists() and first.group == names:
                _check_owners(first, names)
                folders = [RunFolder(self.folder / name) for name in names]
                # A folder that is gone begins again, if it is one that is asked for.
                begun[names] = [
                    known[folder.path.name]
                    if folder.path.name in known and not folder.path.exists()
                    else run.like(_config_beside(run, folder))
                    for folder in folders
                ]
            else:
                new.append(run)
        return list(begun.values()), new

    def tidy(self, runs: Sequence[Run]) -> None:
        """Delete what killed processes left beside finished runs of these, and of their groups.

        States that other runs go on from stay, and so does what another process holds. That
        something cannot be deleted matters to nobody who asks for finished runs.
        """
        folders = {run.config.name: run.within(self.folder) for run in runs}
        for folder in [*folders.values()]:
            if folder.has_ended:
                with suppress(RunFailed):
                    folders |= {name: RunFolder(self.folder / name) for name in folder.group}
        hidden = self._hidden()
        for name, folder in folders.items():
            if folder.has_ended and (name in hidden or folder.has_strays):
                with suppress(RunFailed, OSError), self._alone([folder]):
                    self._drop_strays(folder, hidden.get(name, []))

    def _hidden(self) -> dict[str, list[Path]]:
        """Return the locks, and the run folders that are being deleted, by the name of the run."""
        found: dict[str, list[Path]] = {}
        for path in self.folder.glob(".*"):
            name, _, kind = path.name[1:].rpartition(".")
            if kind == "lock":
                found.setdefault(name, [])  # Taking the lock and leaving it deletes the file.
            elif kind == "tmp":
                found.setdefault(name.rpartition(".")[0], []).append(path)
        return found

    def _drop_strays(self, folder: RunFolder, doomed: Sequence[Path]) -> None:
        """Delete what is not of a finished run, whose lock is held.

        Raises:
            RunFailed: its environment is damaged, so that nobody knows whose state it has.
            OSError: something cannot be deleted.
        """
        folder.drop_unfinished_files()
        for path in doomed:
            shutil.rmtree(path)
        if all(RunFolder(self.folder / name).has_ended for name in folder.group):
            shutil.rmtree(folder.checkpoint.parent, ignore_errors=True)

    def epochs_done(self, group: Sequence[Run]) -> int:
        """Return for how many epochs a group had been trained when it was interrupted."""
        position = Checkpoint(group[0].within(self.folder).checkpoint).position()
        epoch = (position or {}).get("epoch")
        return epoch if isinstance(epoch, int) else 0

    @backend()
    def _train(self, runs: Sequence[Run], watcher: Watcher) -> None:
        folders = [run.within(self.folder) for run in runs]
        with self._alone(folders):
            if self.missing(runs):  # another process may have finished them meanwhile
                with interrupts.advice(interrupts.SAVED):
                    self._train_alone(runs, folders, watcher)

    def _train_alone(
        self, runs: Sequence[Run], folders: Sequence[RunFolder], watcher: Watcher
    ) -> None:
        names = [folder.path.name for folder in folders]
        checkpoint = Checkpoint(folders[0].checkpoint, tuple(names))
        begun = checkpoint.path.exists()
        if begun and folders[0].group != tuple(names):
            # What goes on was decided before the other processes were kept out.
            other = f"{folders[0].path} was begun with other runs meanwhile"
            raise RunFailed(f"{other}; run the command again")
        here = describe(names)
        environment = resumed(folders[0].environment(), here) if begun else here
        group = group_of(runs)
        group.check()
        for folder, run in zip(folders, runs, strict=True):
            if not folder.has_ended and not (begun and folder.environment() == environment):
                folder.begin(run.config, environment)
        watcher.begins(runs)
        logging = _Logging(folders, watcher)
        try:
            fitted = group.fit(
                logging,
                checkpoint=checkpoint,
                checkpoint_seconds=self.checkpoint_seconds,
                test_every=self.test_every,
            )
        finally:
            watcher.ended()
        logging.catch_up(fitted.position)
        watcher.scoring(sum(len(run.split.test) + len(run.split.validation) for run in runs))
        _finish(runs, folders, fitted)
        shutil.rmtree(checkpoint.path.parent, ignore_errors=True)
        hidden = self._hidden()
        for folder in folders:
            if folder.has_ended:
                with suppress(RunFailed, OSError):
                    self._drop_strays(folder, hidden.get(folder.path.name, []))
        if any(fitted.position.lost):
            others = "; the other runs of the group are finished"
            raise Diverged(f"{lost([run.seed for run in runs], fitted.position)}{others}")


def _check_owners(first: RunFolder, names: tuple[str, ...]) -> None:
    """Refuse a state of other runs than those that are to go on from it.

    Raises:
        RunFailed: it is one.
    """
    owners = Checkpoint(first.checkpoint).owners()
    if owners and owners != names:
        raise damaged(first.checkpoint, f"it is the state of {in_one_line(', '.join(owners))}")


def _config_beside(run: Run, folder: RunFolder) -> RunConfig:
    """Return what a run was that another was interrupted beside.

    Raises:
        RunFailed: its folder is gone, or damaged.
    """
    if not folder.path.exists():
        gone = f"was interrupted with {folder.path.name}, whose folder is gone"
        raise RunFailed(f"{run.config.name} {gone}; train that run too, or use `--restart`")
    return folder.own_config()


def prepare() -> None:
    """Set JAX up: every core is a device, and compiled programs are kept."""
    keep_compilations()
    use_every_core()


def group_of(runs: Sequence[Run]) -> Group:
    """Return the group that trains these runs as one program."""

    def member(run: Run) -> Member:
        task = tasks.get(run.task)

        def score(examples: Examples, predictions: Sequences) -> float:
            return task.total(task.metric, examples, predictions)

        return Member(run.learner, run.split, run.seed, score)

    return Group([member(run) for run in runs])


def _finish(runs: Sequence[Run], folders: Sequence[RunFolder], fitted: Fitted) -> None:
    """Write each run's weights, predictions and scores; what is done stays as it is."""
    every = fitted.predict([run.split.test for run in runs])
    validated = fitted.predict([run.split.validation for run in runs])
    table = fitted.replicas.table
    # As one entry: several would be written in any order.
    vocabularies = json.dumps({"source": table.sources.tokens, "target": table.targets.tokens})
    for replica, (run, folder, found) in enumerate(zip(runs, folders, every, strict=True)):
        if folder.is_done() or fitted.position.lost[replica]:
            continue
        task, split, history = tasks.get(run.task), run.split, fitted.history(replica)
        write_bytes(folder.model, save(fitted.weights(replica), {"vocabularies": vocabularies}))
        values = task.scores(split.test, found)
        prediction_files.write(folder.predictions, split.test, found, values)
        totals = task.totals(split.test, found, values)
        best = history[fitted.position.best_epoch[replica] - 1]
        held_out = split.validation
        validation_scores = (
            {"validation_scores": task.totals(held_out, validated[replica])}
            if len(held_out)
            else {}
        )
        folder.finish(
            {
                "metric": task.metric,
                "test": totals,
                # What counts is what is installed now, not when the run began.
                **({"sacrebleu": version("sacrebleu")} if "bleu" in totals else {}),
                "test_examples": len(split.test),
                **(
                    {"tests": each}
                    if (each := task.by_test(split.test, split.tests, found, values))
                    else {}
                ),
                **validation_scores,
                **({} if best.perplexity is None else {"perplexity": best.perplexity}),
                "validation": best.validation,
                "best_epoch": best.epoch,
                "epochs": len(history),
                **({"diverged": True} if fitted.position.diverged[replica] else {}),
                "steps": history[-1].steps,
                "seconds": sum(record.seconds for record in history),
                "statistics": task.statistics(split),
            }
        )


class _Logging:
    """A listener that writes each epoch into each run's log, and passes everything on."""

    def __init__(self, folders: Sequence[RunFolder], watcher: Watcher) -> None:
        self._folders = folders
        self._watcher = watcher
        self._logged: list[int] | None = None
        """Records in each run's log; None until the logs are known to end where training is."""

    def stepped(self, position: Position, steps: int, examples: int) -> None:
        self.catch_up(position)
        self._watcher.stepped(position, steps, examples)

    def epoch_ended(self, position: Position) -> None:
        logged = self.catch_up(position)
        for replica, history in enumerate(position.history):
            if not self._folders[replica].has_ended:
                for record in history[logged[replica] :]:
                    self._folders[replica].log(record)
            logged[replica] = len(history)
        self._watcher.epoch_ended(position)

    def catch_up(self, position: Position) -> list[int]:
        """Return how many records each log holds, after the first call exactly those there are.

        A killed run may have logged an epoch that its checkpoint does not know of, or have lost
        what it logged. A resumed one may hear of an epoch's end before any step, or of neither.
        """
        if self._logged is None:
            self._logged = [len(history) for history in position.history]
            for folder, history in zip(self._folders, position.history, strict=True):
                if not folder.has_ended:
                    folder.write_log(history)
        return self._logged


def limited(limit: int, test: Examples) -> str:
    """Say how many targets of a test are longer than outputs can be; nothing if none is.

    Raises:
        WrongRequest: all are.
    """
    lengths = test.target.lengths
    over = int((lengths > limit).sum())
    said = f"{over:,} of {len(lengths):,} test targets are longer than --max-decode-length {limit}:"
    said += f" up to {lengths.max(initial=0)} tokens"
    require(not 0 < over == len(lengths), f"{said}, so none can be right")
    return said if over else ""


def check_seeds(seeds: Sequence[int]) -> None:
    """Refuse seeds that are none, twice the same, or negative."""
    require(
        len(set(seeds)) == len(seeds) > 0,
        f"expected different seeds, at least one, not {list(seeds)}",
    )
    require(min(seeds) >= 0, f"a seed must not be negative: {min(seeds)}")


MOST_SEEDS = 10_000
"""More at a time is taken for a slip."""


def seeds_from(count: int, first: int = 0) -> list[int]:
    """Return `count` seeds from `first` on."""
    require(count > 0, f"seeds must be positive, not {count}")
    require(count <= MOST_SEEDS, f"seeds must be at most {MOST_SEEDS:,}, not {count:,}")
    return list(range(first, first + count))


def primary(scores: dict[str, Any]) -> float:
    """Return the figure that papers print of a run's scores."""
    return scores["test"][scores["metric"]]
