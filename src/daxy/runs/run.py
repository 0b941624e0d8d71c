"""One run: a learner on a task's data from a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, get_args, get_type_hints

from daxy import learners, tasks
from daxy.core.errors import require
from daxy.core.examples import Examples, Sequences
from daxy.core.split import Split
from daxy.learners import Job, Learner
from daxy.runs.config import RunConfig, load, run_config
from daxy.runs.folder import CHECKPOINT, RunFolder
from daxy.tasks import DatasetOptions

MOST_SEEDS = 10_000
"""Maximum number of seeds in a request."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One learner on a task's data, from a seed."""

    task: str
    learner: Learner
    data: DatasetOptions
    seed: int

    @property
    def split(self) -> Split:
        """The run's data."""
        return load(self.task, self.data)

    @cached_property
    def config(self) -> RunConfig:
        """Complete configuration, which names the folder."""
        return run_config(self.task, self.data, self.learner.settings(), self.seed)

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.config.name

    def check(self) -> str:
        """Check that the run can succeed; return a note on truncated targets.

        Raises:
            WrongRequest: learner and task do not go together, or no output could be right.
        """
        self.learner.check(tasks.get(self.task), self.data)
        return truncated_targets(self.learner.max_decode_length, self.split.test)

    def within(self, folder: Path) -> RunFolder:
        """Return the run folder, which may not exist."""
        return RunFolder(folder / self.name)

    def is_done(self, folder: Path) -> bool:
        """Whether the run folder is finished; checks its files and its configuration.

        Raises:
            RunFailed: it is finished, but damaged or a copy of another run.
        """
        run_folder = self.within(folder)
        return run_folder.is_done() and bool(run_folder.checked_config())

    def job(self, folder: Path, *, checkpoint_seconds: float, test_every: int) -> Job:
        """Return the learner's job."""
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
    def of(cls, config: RunConfig, located: Mapping[str, Any] | None = None) -> Run:
        """Return the run of a configuration, on files if given; see `DatasetOptions.located`."""
        return cls(
            task=config.task,
            learner=learners.of_settings(config.learner),
            data=data_of(config, located or {}),
            seed=config.seed,
        )

    def like(self, config: RunConfig) -> Run:
        """Return the run of a configuration, with data from the same source as this run."""
        same = config.data == self.config.data
        return replace(
            Run.of(config), data=self.data if same else replace(self.data, **config.choices)
        )


def data_of(config: RunConfig, located: Mapping[str, Any]) -> DatasetOptions:
    """Return the data options of a run, with its files; see `DatasetOptions.located`."""
    hints = get_type_hints(tasks.get(config.task).options)
    paths: dict[str, Any] = {
        name: Path(value) if Path in get_args(hints[name]) else value
        for name, value in located.items()
    }
    return tasks.data(config.task, **{**config.choices, **paths})


def truncated_targets(max_decode_length: int | None, test: Examples) -> str:
    """Return a note on test targets beyond the maximum decoding length; empty without any.

    Raises:
        WrongRequest: all targets are longer.
    """
    lengths = test.target.lengths
    over = 0 if max_decode_length is None else int((lengths > max_decode_length).sum())
    flag = f"--max-decode-length {max_decode_length}"
    text = f"{over:,} of {len(lengths):,} test targets are longer than {flag}:"
    text += f" up to {lengths.max(initial=0)} tokens"
    require(not 0 < over == len(lengths), f"{text}, so none can be right")
    return text if over else ""


def check_seeds(seeds: Sequence[int]) -> None:
    """Check that seeds are different, not negative, and at least one."""
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
