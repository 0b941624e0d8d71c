"""Published values for a learner, a test set or an analysis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from daxy import papers, tasks
from daxy.core.split import Option
from daxy.papers import PERPLEXITY, Finding, RunSpec, TableCell
from daxy.reproduction.resolve import data_of, settings_of

Options: TypeAlias = Mapping[str, Option]


def of_learner(
    task: str, settings: dict[str, Any], options: Options | None = None
) -> list[TableCell]:
    """Return every published score of a learner on a task, in the order of papers and tables.

    Args:
        task: The task's name.
        settings: The learner's resolved settings, every field.
        options: Data options that the score must share, without the seed of the draw; None for
            any.
    """
    return [cell for cell, recipe in _cells(task) if _matches(recipe, settings, options)]


def of_test(task: str, options: Options | None = None) -> list[TableCell]:
    """Return every published score on a task's test set, of any learner.

    Args:
        task: The task's name.
        options: Data options that the score must share, apart from training, validation and the
            seed of the draw; None for any.
    """
    cells = dict[tuple[str, str, str, str], TableCell]()
    for cell, recipe in _cells(task):
        if (recipe.part, recipe.after_steps) != ("test", 0) or recipe.metric == PERPLEXITY:
            continue
        data = tasks.data(task, **dict[str, Any](recipe.data)).options
        if options is None or _test_options(data) == _test_options(options):
            # Papers print some scores in several tables.
            cells.setdefault((recipe.identity, recipe.test, recipe.metric, cell.printed), cell)
    return list(cells.values())


def findings(
    analysis: str, task: str, settings: dict[str, Any], options: Options | None = None
) -> list[Finding]:
    """Return the published findings of an analysis of a learner's runs on a task.

    The number of training steps may differ, as users often train fewer than the paper.

    Args:
        analysis: Name of the analysis.
        task: The task's name.
        settings: The learner's resolved settings, every field.
        options: See `of_learner`.
    """
    return [
        finding
        for paper in papers.PAPERS.loaded().values()
        for finding in paper.findings
        if finding.analysis == analysis
        and task in finding.recipe.tasks
        and _matches(finding.recipe, settings, options, any_steps=True)
    ]


def _cells(task: str) -> Iterator[tuple[TableCell, RunSpec]]:
    """Yield the cells of all papers with a value for a task, and their specifications."""
    for paper in papers.PAPERS.loaded().values():
        for table in paper.tables:
            for cell in table.cells if table.is_printed else ():
                if cell.value is not None and cell.recipe and task in cell.recipe.tasks:
                    yield cell, cell.recipe


def _matches(
    recipe: RunSpec, settings: dict[str, Any], options: Options | None, *, any_steps: bool = False
) -> bool:
    """Whether a specification resolves to these settings and options."""
    resolved = settings_of(recipe)
    if any_steps:
        resolved, settings = _without_steps(resolved), _without_steps(settings)
    return resolved == settings and (options is None or data_of(recipe).options == dict(options))


def _without_steps(settings: dict[str, Any]) -> dict[str, Any]:
    training = settings.get("training", {})
    budget = {key: value for key, value in training.get("budget", {}).items() if key != "steps"}
    return {**settings, "training": {**training, "budget": budget}}


def _test_options(options: Options) -> dict[str, Option]:
    """Return the options that determine the test set."""
    names = ("validation", "validation_fraction", "oversample")
    return {name: value for name, value in options.items() if name not in names}
