"""Scores of trained runs, as tables and as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from daxy.cli._result import Result
from daxy.core.display import counted
from daxy.metrics import text as metric_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from daxy.papers import TableCell
    from daxy.reproduction.learning_rates import LearningRateSearch
    from daxy.reproduction.trained import Trained


def answer(trained: Trained) -> Result:
    """Return the scores of an experiment, with published scores."""
    from daxy.cli._published import as_values

    experiment, runs = trained.experiment, runs_of(trained)
    data = {
        "task": experiment.task,
        "data": trained.folders[0].config().data,
        "learner": experiment.learner.settings(),
        "measured": trained.summary.as_json,
        "published": as_values(trained.published),
        "runs": runs,
    }
    return Result(data=data, text=_table(trained, runs))


def runs_of(trained: Trained) -> list[dict[str, Any]]:
    """Return the scores of each run as JSON values."""
    configs = [(folder, folder.config()) for folder in trained.folders]
    return [
        {"seed": it.seed, "digest": it.digest, "folder": str(folder.path), **folder.scores()}
        for folder, it in configs
    ]


def rates_table(grid: LearningRateSearch, rates: Sequence[dict[str, Any]]) -> RenderableType:
    """Return a table of learning rates: the criterion of selection, and the test score."""
    from rich.table import Table

    criterion, digits = ("perplexity", ".4g") if grid.by_perplexity else ("validation", ".1%")
    table = Table("learning rate", f"{criterion} of each seed", "test", box=None)
    for rate in rates:
        runs = {run["seed"]: run for run in rate["runs"]}
        values = [
            f"{runs[seed][criterion]:{digits}}" if seed in runs else "diverged"
            for seed in grid.seeds
        ]
        tests = (metric_text(run["metric"], run["test"][run["metric"]]) for run in runs.values())
        table.add_row(f"{rate['learning_rate']:g}", " ".join(values), " ".join(tests))
    return table


def _table(trained: Trained, runs: Sequence[dict[str, Any]]) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    from daxy.runs.config import load

    metric = runs[0]["metric"]
    # Several tests have a table of their own.
    names = [metric] if runs[0].get("tests") else [metric, *sorted({*runs[0]["test"]} - {metric})]
    heads = (f"test {name}" for name in names)
    table = Table("seed", box=None)
    learner = trained.experiment.learner
    for head in (*heads, "validation", *learner.summary(runs[0])):
        table.add_column(head, justify="right")
    table.add_column("run folder", overflow="fold")
    for run in runs:
        validation = "-" if run["validation"] is None else f"{run['validation']:.1%}"
        scores = (metric_text(name, run["test"][name]) for name in names)
        columns = learner.summary(run).values()
        table.add_row(str(run["seed"]), *scores, validation, *columns, run["folder"])
    facts = [f"{fact}: {value:.1%}" for fact, value in runs[0]["statistics"].items()]
    count = f"{counted(len(runs), 'seed')}, {runs[0]['test_examples']:,} test examples"
    summary = trained.summary
    lines = [f"measured   {summary.text()} ({count})"]
    if summary.sem is not None:
        extremes = f"min {100 * summary.min:.1f}, max {100 * summary.max:.1f}"
        lines[0] += f"; SEM {100 * summary.sem:.1f}, {extremes}"
    published = trained.published
    same_metric = [cell for cell in published if cell.recipe and cell.recipe.metric == metric]
    lines += [f"published  {cell.printed} ({cell})" for cell in _of_test(same_metric, "")]
    source = load(trained.experiment.task, trained.experiment.data).provenance.source
    return Group(table, *_by_test(published, runs), *lines, *facts, f"data: {source}")


def _by_test(
    published: Sequence[TableCell], runs: Sequence[dict[str, Any]]
) -> list[RenderableType]:
    """Return a table of the scores of several tests, over all seeds; nothing for one test."""
    from rich.table import Table

    from daxy.core.summary import Summary

    tests, metrics = runs[0].get("tests", {}), tuple(runs[0]["test"])
    table = Table("test", box=None)
    for metric in metrics:
        table.add_column(metric, justify="right")
    table.add_column("published")
    for test in tests:
        values = ((run["tests"][test][metric] for run in runs) for metric in metrics)
        scores = [Summary(runs=tuple(it)).text() for it in values]
        cells = _of_test(published, test)
        table.add_row(test, *scores, ", ".join(f"{cell.printed} ({cell})" for cell in cells))
    return [table, ""] if tests else []


def _of_test(cells: Sequence[TableCell], test: str) -> list[TableCell]:
    """Return the cells of one of several tests; of the whole test set for an empty name."""
    return [
        cell
        for cell in cells
        if (recipe := cell.recipe)
        and (recipe.test, recipe.part, recipe.after_steps) == (test, "test", 0)
    ]
