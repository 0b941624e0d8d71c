"""One run: a learner on a task's data from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from daxy import learners, tasks
from daxy.core.errors import require
from daxy.core.examples import Examples, Sequences
from daxy.core.split import Split
from daxy.learners import Job, Learner
from daxy.runs.config import RunConfig, load, run_config
from daxy.runs.folder import CHECKPOINT, RunFolder
from daxy.tasks import DatasetOptions

MOST_SEEDS = 10_000
"""More seeds at a time are taken for a slip."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One learner on a task's data, from a seed."""

    task: str
    learner: Learner
    data: DatasetOptions
    seed: int

    @property
    def split(self) -> Split:
        """The data."""
        return load(self.task, self.data)

    @cached_property
    def config(self) -> RunConfig:
        """The complete configuration, which names the folder."""
        return run_config(self.task, self.data, self.learner.settings(), self.seed)

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.config.name

    def check(self) -> str:
        """Refuse a run that cannot succeed; return a note on what limits its scores.

        Raises:
            WrongRequest: learner and task do not go together, or no output could be right.
        """
        self.learner.check(tasks.get(self.task), self.data)
        return truncated_targets(self.learner.max_decode_length, self.split.test)

    def within(self, folder: Path) -> RunFolder:
        """Return the run folder, there or not."""
        return RunFolder(folder / self.name)

    def is_done(self, folder: Path) -> bool:
        """Whether the run folder there is finished, whole, and no copy of another run's.

        Raises:
            RunFailed: it is finished, and is not whole or is a copy.
        """
        own = self.within(folder)
        return own.is_done() and bool(own.own_config())

    def job(self, folder: Path, *, checkpoint_seconds: float, test_every: int) -> Job:
        """Return the run as its learner has it."""
        task = tasks.get(self.task)

        def score(examples: Examples, outputs: Sequences) -> float:
            return task.total(task.metric, examples, outputs)

        return Job(
            name=self.name,
            learner=self.learner,
            seed=self.seed,
            workdir=folder / self.name / CHECKPOINT,
            load=lambda: self.split,
            score=score,
            checkpoint_seconds=checkpoint_seconds,
            test_every=test_every,
        )

    @classmethod
    def of(cls, config: RunConfig, official: Path | None = None) -> Run:
        """Return the run of a configuration, on the official files that are given, if any."""
        return cls(
            task=config.task,
            learner=learners.of_settings(config.learner),
            data=tasks.data(config.task, **config.choices, official=official),
            seed=config.seed,
        )

    def like(self, config: RunConfig) -> Run:
        """Return the run of that configuration, on data from where this run's data is from."""
        same = config.data == self.config.data
        return replace(
            Run.of(config), data=self.data if same else replace(self.data, **config.choices)
        )


def truncated_targets(max_decode_length: int | None, test: Examples) -> str:
    """Return a note on test targets that are longer than outputs can be; nothing without any.

    Raises:
        WrongRequest: all are.
    """
    lengths = test.target.lengths
    over = 0 if max_decode_length is None else int((lengths > max_decode_length).sum())
    flag = f"--max-decode-length {max_decode_length}"
    text = f"{over:,} of {len(lengths):,} test targets are longer than {flag}:"
    text += f" up to {lengths.max(initial=0)} tokens"
    require(not 0 < over == len(lengths), f"{text}, so none can be right")
    return text if over else ""


def check_seeds(seeds: Sequence[int]) -> None:
    """Refuse an empty list of seeds, a seed twice, or a negative one."""
    require(
        len(set(seeds)) == len(seeds) > 0,
        f"expected different seeds, at least one, not {list(seeds)}",
    )
    require(min(seeds) >= 0, f"a seed must not be negative: {min(seeds)}")


def seed_range(count: int, first: int = 0) -> list[int]:
    """Return `count` seeds from `first` on."""
    require(count > 0, f"seeds must be positive, not {count}")
    require(count <= MOST_SEEDS, f"seeds must be at most {MOST_SEEDS:,}, not {count:,}")
    return list(range(first, first + count))
