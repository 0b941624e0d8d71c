"""The interface of learners. It imports no machine-learning framework.

Run folders, scores, the ledger, analyses and the command line depend on this interface alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeAlias, cast, runtime_checkable

from daxy.core.errors import DaxyError
from daxy.core.examples import Examples, Sequences
from daxy.core.settings import from_dict, to_dict
from daxy.core.split import Split
from daxy.tasks import DatasetOptions, Task

Record: TypeAlias = Mapping[str, Any]
"""JSON values by name."""
Score: TypeAlias = Callable[[Examples, Sequences], float]
"""score(examples, outputs) -> the task's primary metric, between 0 and 1."""


@runtime_checkable
class Predictor(Protocol):
    """A fitted learner."""

    def predict(self, examples: Examples) -> Sequences:
        """Return an output for each example; a predictor does not read the targets."""
        ...

    def save(self, folder: Path) -> Sequence[str]:
        """Write the files from which `Learner.load` restores the predictor; return their names."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """One run to be fitted."""

    name: str
    """Name of the run."""
    learner: Learner
    seed: int
    workdir: Path
    """Folder for checkpoints; the store deletes it when the run is finished."""
    load: Callable[[], Split]
    """Load or generate the data."""
    score: Score
    checkpoint_seconds: float = 30.0
    """Seconds between two checkpoints."""
    test_every: int = 0
    """Epochs between two evaluations on the test set, for the log alone; 0: none."""

    @cached_property
    def split(self) -> Split:
        """The data; loaded once."""
        return self.load()


@dataclass(frozen=True, eq=False, kw_only=True)
class Fit:
    """The result of fitting one job."""

    predictor: Predictor
    log: Sequence[Record] = ()
    """Lines of `log.jsonl`, one an epoch."""
    facts: Record = field(default_factory=dict[str, Any])
    """More fields of `scores.json`, such as `best_epoch` and `steps`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Progress:
    """The state of a group of jobs, for callbacks."""

    epoch: int
    """Epochs that have ended."""
    epochs: int
    """Maximum number of epochs."""
    step: int
    """Finished steps of the current epoch."""
    steps: int
    """Steps of the current epoch."""
    total: int
    """Steps since fitting began."""
    logs: Sequence[Sequence[Record]]
    """All log records so far, by job."""
    figures: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Any])
    """Current values of the jobs, such as `loss` and `best`."""
    ended: Mapping[str, int] = field(default_factory=dict[str, int])
    """Number of jobs that have ended, by how: `finished`, `diverged`."""


class Callbacks:
    """Callbacks for a group of jobs that is fitted together; no-ops by default."""

    def stepped(self, progress: Progress, examples: int) -> None:
        """Steps ended, with this number of examples of all jobs."""

    def epoch_ended(self, progress: Progress) -> None:
        """An epoch ended; the log of each active job has a new record."""


class Learner(ABC):
    """A method that fits and predicts examples.

    A learner is a frozen dataclass: its fields are its settings, and flags of `daxy train`.
    """

    kind: ClassVar[str]
    """Name that users type; for a network they type the architecture's name."""
    starts_by: ClassVar[str] = ""
    """Name of the work before the first step, for display."""
    test_only: ClassVar[bool] = False
    """Whether its predictors can predict test examples only."""

    @property
    def label(self) -> str:
        """Name in the name of a run folder."""
        return self.kind

    @property
    def description(self) -> str:
        """The name and the settings in one line, for display."""
        values = ", ".join(f"{name} {value}" for name, value in self.flags().items())
        return f"{self.label}: {values}" if values else self.label

    def flags(self) -> dict[str, Any]:
        """Return the settings by the names of their flags."""
        return {setting.name: getattr(self, setting.name) for setting in fields(cast("Any", self))}

    def settings(self) -> dict[str, Any]:
        """Return all settings that determine the result, as JSON values."""
        return {"learner": self.kind, "config": to_dict(cast("Any", self))}

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Return the learner with these settings; see `settings`.

        Raises:
            UnknownName: there is no such setting.
            WrongRequest: a setting has a wrong value.
        """
        return from_dict(cls, settings["config"], of=f"learner {cls.kind}")

    def with_settings(self, values: Mapping[str, Any]) -> Self:
        """Return the learner with other settings, each by the name of its flag.

        Raises:
            UnknownName: there is no such setting.
            WrongRequest: a setting has a wrong value.
        """
        changed = {**to_dict(cast("Any", self)), **values}
        return from_dict(type(self), changed, of=f"learner {self.kind}")

    @property
    def count(self) -> int | None:
        """Maximum number of runs, if the learner limits it."""
        return None

    def summary(self, scores: Record) -> dict[str, str]:
        """Return table columns about a finished run, from its `scores.json`."""
        del scores
        return {}

    def check(self, task: Task[Any], data: DatasetOptions) -> None:
        """Refuse a task or data that the learner cannot use.

        Raises:
            WrongRequest: learner and task do not go together.
        """
        del task, data

    @property
    def max_decode_length(self) -> int | None:
        """Maximum tokens of an output; None without a maximum."""
        return None

    @property
    def max_epochs(self) -> int:
        """Maximum number of epochs; 0 for a learner without epochs."""
        return 0

    def samples(self, split: Split) -> int:
        """Return the maximum number of examples to train on, counting repetitions."""
        return len(split.train)

    def groups(self, jobs: Sequence[Job], most: int | None = None) -> list[list[Job]]:
        """Group jobs that are fitted together; their learners may differ.

        Args:
            jobs: Jobs with learners of this kind.
            most: Maximum number of jobs of a group; by default memory limits it.
        """
        del most
        return [[job] for job in jobs]

    def cost(self, job: Job) -> float:
        """Return the relative duration of a job; 0 for a negligible one."""
        del job
        return 0.0

    def seconds(self, jobs: Sequence[Job], epochs_done: int = 0) -> float:
        """Return an estimate of the seconds that a group of jobs still takes."""
        del jobs, epochs_done
        return 0.0

    def epochs_done(self, workdir: Path) -> int:
        """Return the number of epochs that the checkpoint in a working folder has finished."""
        del workdir
        return 0

    def prepare(self) -> None:  # noqa: B027 - most learners need no preparation
        """Prepare fitting, before any folder is created.

        Raises:
            WrongRequest: a requested device is missing.
        """

    def owners(self, workdir: Path) -> tuple[str, ...]:
        """Return the names of the jobs of the checkpoint in a working folder; () if unknown."""
        del workdir
        return ()

    def environment(self) -> dict[str, Any]:
        """Return versions and devices on which the bits of a result depend."""
        return {}

    @abstractmethod
    def fit(self, jobs: Sequence[Job], callbacks: Callbacks) -> Iterator[Fit | DaxyError]:
        """Fit a group of jobs, from its checkpoint if there is one; see `groups`.

        The call checks the jobs; fitting begins with the first `next`. The checkpoint of a group is
        in the working folder of its first job. The result does not depend on interruptions.

        Yields:
            The result of each job, in order; or its error.

        Raises:
            WrongRequest: a job cannot be fitted.
            Interrupted: by a signal, after the state was saved.
            RunFailed: a saved state is damaged or cannot be written.
        """

    @classmethod
    @abstractmethod
    def load(cls, folder: Path, settings: Mapping[str, Any]) -> Predictor:
        """Return the predictor that `Predictor.save` wrote into a folder.

        Raises:
            RunFailed: a file is missing or damaged.
        """
