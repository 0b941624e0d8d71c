"""Grids: one run for each combination of settings and each seed."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from daxy.core.errors import quote, require
from daxy.runs.experiment import Experiment
from daxy.runs.folder import RunFolder
from daxy.runs.run import Run

MOST = 10_000
"""Maximum number of runs of a grid."""


def parse(words: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of each setting of `NAME=VALUE,VALUE` words.

    Raises:
        WrongRequest: a word is not of this form, or names a setting or a value twice.
    """
    values: dict[str, list[Any]] = {}
    for word in words:
        name, equals, listed = word.partition("=")
        name, texts = name.strip().replace("-", "_"), [it.strip() for it in listed.split(",")]
        form = f"{quote(word)} is no setting of a grid; expected NAME=VALUE,VALUE"
        require(bool(name and equals and all(texts)), form)
        require(name not in values, f"{name} is there twice; expected all its values in one word")
        values[name] = [_value(text) for text in texts]
        twice = f"{quote(word)} has a value twice"
        require(len({repr(value) for value in values[name]}) == len(texts), twice)
    require(bool(values), "a grid has no setting; expected NAME=VALUE,VALUE")
    return values


def _value(text: str) -> Any:
    """Return a number, true, false or null as JSON has it; other words as they are."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, list | dict) else value


@dataclass(frozen=True, eq=False)
class Grid:
    """Runs of all combinations of settings."""

    experiment: Experiment
    """Task, data, folder, and the learner whose settings vary."""
    values: Mapping[str, Sequence[Any]]
    """Values of each setting."""
    seeds: Sequence[int]

    def __post_init__(self) -> None:
        count = len(self.points) * len(self.seeds)
        require(count <= MOST, f"the grid has {count:,} runs; expected at most {MOST:,}")

    @cached_property
    def points(self) -> list[tuple[Any, ...]]:
        """Combinations of values, in the order of `values`."""
        return list(itertools.product(*self.values.values()))

    @cached_property
    def runs(self) -> dict[tuple[Any, ...], list[Run]]:
        """The run of each seed, by combination.

        Raises:
            UnknownName: a setting is unknown.
            WrongRequest: a value is wrong.
        """
        runs: dict[tuple[Any, ...], list[Run]] = {}
        for point in self.points:
            settings = dict(zip(self.values, point, strict=True))
            learner = self.experiment.learner.with_settings(settings)
            task, data = self.experiment.task, self.experiment.data
            runs[point] = [
                Run(task=task, learner=learner, data=data, seed=seed) for seed in self.seeds
            ]
        return runs

    @property
    def every_run(self) -> list[Run]:
        """All runs, seed after seed of each combination."""
        return list(itertools.chain.from_iterable(self.runs.values()))

    def finished(self, point: tuple[Any, ...]) -> list[RunFolder]:
        """Return the finished runs of a combination."""
        folders = [run.within(self.experiment.folder) for run in self.runs[point]]
        return [folder for folder in folders if folder.has_ended]
