"""Scores of the nearest neighbour, a learner without a network, on SCAN and NACS.

`python -m benchmarks.baselines` measures them and writes `results/baselines.json`. Results pages
and analyses show them beside the scores of networks. The learner is deterministic, so there is one
score and no seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from daxy import tasks
from daxy.core import json_objects
from daxy.core.split import Option
from daxy.papers import RunSpec

FILE = "baselines.json"
TRAIN_OPTIONS = ("validation", "validation_fraction", "oversample")
"""Options of data that leave the test set as it is."""


def scores(folder: Path, task: str, metric: str) -> dict[str, float]:
    """Return the score of each baseline on a task's test set, in per cent; empty if not measured.

    Raises:
        WrongFile: the file of baselines is damaged.
    """
    by_learner = read(folder / FILE).get(task, {})
    return {name: 100 * it[metric] for name, it in by_learner.items() if metric in it}


def of_recipe(folder: Path, recipe: RunSpec) -> dict[str, float]:
    """Return the score of each baseline on the test set of a published value."""
    is_whole_test = (recipe.part, recipe.test, recipe.after_steps) == ("test", "", 0)
    is_default = all(name in TRAIN_OPTIONS for name in recipe.data)
    return scores(folder, recipe.task, recipe.metric) if is_whole_test and is_default else {}


def has_default_test(task: str, options: Mapping[str, Option]) -> bool:
    """Whether data with these options has the test set of the baselines."""
    usual = tasks.data(task)
    names = {field.name for field in fields(usual)}.difference(("seed", *TRAIN_OPTIONS))
    return all(options.get(name, getattr(usual, name)) == getattr(usual, name) for name in names)


@cache
def read(path: Path) -> Mapping[str, Any]:
    """Return each baseline's metrics, as shares, by task and learner; empty without a file."""
    return json_objects.read(path)["tasks"] if path.exists() else {}
