"""Scores of the nearest neighbour, a learner without a network, on SCAN and NACS.

`python -m daxy.report.baselines results` measures them and writes `results/baselines.json`. Results
pages and analyses show them beside the scores of networks. The learner is deterministic, so there
is one score and no seed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import tyro

from daxy import tasks
from daxy.core import json_objects
from daxy.core.errors import DaxyError
from daxy.core.files import write_json
from daxy.core.split import Option
from daxy.learners.nearest import Memory
from daxy.papers import Recipe
from daxy.version import __version__

FILE = "baselines.json"
LEARNERS = {"nearest": False, "nearest --substitute": True}
"""Learners as `daxy train TASK` takes them, with their `substitute`."""
SPLITS = (
    *("simple", "length", "addprim_jump", "addprim_turn_left", "template_jump_around_right"),
    *("template_around_right", "template_opposite_right", "template_right"),
)
TASKS = tuple(f"{benchmark}/{split}" for benchmark in ("scan", "nacs") for split in SPLITS)
TRAIN_OPTIONS = ("validation", "validation_fraction", "oversample")
"""Options of data that leave the test set as it is."""


def scores(folder: Path, task: str, metric: str) -> dict[str, float]:
    """Return the score of each baseline on a task's test set, in per cent; empty if not measured.

    Raises:
        RunFailed: the file of baselines is damaged.
    """
    by_learner = _read(folder / FILE).get(task, {})
    return {name: 100 * by_metric[metric] for name, by_metric in by_learner.items()}


def of_recipe(folder: Path, recipe: Recipe) -> dict[str, float]:
    """Return the score of each baseline on the test set of a published value."""
    is_whole_test = (recipe.part, recipe.test, recipe.after_steps) == ("test", "", 0)
    is_default = all(name in TRAIN_OPTIONS for name in recipe.data)
    return scores(folder, recipe.task, recipe.metric) if is_whole_test and is_default else {}


def has_default_test(task: str, options: Mapping[str, Option]) -> bool:
    """Whether data with these options has the test set of the baselines."""
    usual = tasks.data(task).options
    return all(options.get(name) == usual[name] for name in usual if name not in TRAIN_OPTIONS)


def measure(task: str) -> dict[str, dict[str, float]]:
    """Return every metric of each baseline on a task, as shares."""
    split = tasks.data(task).for_training().load(task)
    return {
        name: tasks.get(task).totals(
            split.test, Memory.of(split.train, substitute=substitute).predict(split.test)
        )
        for name, substitute in LEARNERS.items()
    }


@cache
def _read(path: Path) -> Mapping[str, Any]:
    return json_objects.read(path)["tasks"] if path.exists() else {}


def main(
    folder: tyro.conf.Positional[Annotated[Path, tyro.conf.arg(metavar="DIR")]] = Path("results"),
    task: tuple[str, ...] = TASKS,
) -> None:
    """Measure the baselines and write them into `baselines.json`; other tasks stay as they are.

    Args:
        folder: Folder of the results.
        task: Tasks to measure.
    """
    measured = dict(_read(folder / FILE))
    for name in task:
        measured[name] = measure(name)
        content = {"daxy": __version__, "tasks": dict(sorted(measured.items()))}
        write_json(folder / FILE, content)


if __name__ == "__main__":
    try:
        tyro.cli(main, prog="python -m daxy.report.baselines")
    except DaxyError as problem:
        sys.stderr.write(f"daxy: {problem}\n")
        sys.exit(problem.exit_code)
