"""Papers: one paper's tables a file. The folder is the registry.

To add a paper, add a file that exposes `PAPER`, a `Paper`: each figure as printed, and for each
that can be reproduced here the recipe that does it. The tests in tests/experiments/papers hold it
to the tasks, metrics, architectures and protocols that there are. Papers are data: nothing here
imports an ML framework.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from daxy.core.errors import UnknownName
from daxy.core.registry import Registry
from daxy.experiments.papers._paper import PERPLEXITY, Cell, Finding, Paper, Part, Recipe, Table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from daxy.core.split import Option

    Options: TypeAlias = Mapping[str, Option]

__all__ = [
    "PAPERS",
    "PERPLEXITY",
    "Cell",
    "Finding",
    "Paper",
    "Part",
    "Recipe",
    "Table",
    "available",
    "findings",
    "get",
    "on_test",
    "published",
    "table",
]


PAPERS = Registry(__name__, "PAPER", "paper", Paper)
available, get = PAPERS.available, PAPERS.get


def table(name: str) -> Table:
    """Return a table by the name that users type, as `bastings2018/table4`.

    Raises:
        UnknownName: there is no such paper, or no such table in it.
        WrongRequest: another command shows what is in it.
    """
    paper, _, number = name.partition("/")
    known = [each.path for each in get(paper).tables]
    if name not in known and number not in get(paper).elsewhere:
        raise UnknownName("table", name, known, listing=f"daxy papers {paper}")
    return get(paper).table(number)


def published(task: str, settings: dict[str, Any], options: Options | None = None) -> list[Cell]:
    """Return every published figure for a learner on a task, paper by paper, as printed.

    Args:
        task: The task's name.
        settings: The learner's resolved settings: model, config and protocol, every field.
        options: What a split records of its choices, if they matter: a figure for the published
            training set says nothing of one without oversampling. The draw's seed does not count.
    """
    return [
        cell
        for paper in PAPERS.loaded().values()
        for each in paper.tables
        for cell in each.cells
        if each.is_printed
        and cell.recipe is not None
        and cell.value is not None
        and task in cell.recipe.tasks
        and _comes_to(cell.recipe, settings, options)
    ]


def on_test(task: str, options: Options | None = None) -> list[Cell]:
    """Return every published score on a task's test set, of whatever learner, as printed.

    Args:
        task: The task's name.
        options: What a split records of its choices, if they matter: what trains and validates does
            not, and neither does the draw's seed.
    """
    from daxy import tasks

    found = dict[tuple[str, str, str, str], Cell]()
    tables = (each for it in PAPERS.loaded().values() for each in it.tables if each.is_printed)
    for cell in (cell for each in tables for cell in each.cells):
        recipe = cell.recipe
        if recipe is None or cell.value is None or task not in recipe.tasks:
            continue
        if (recipe.part, recipe.after_steps) != ("test", 0) or recipe.metric == PERPLEXITY:
            continue
        own = tasks.data(task, **dict[str, Any](recipe.data)).options
        if options is None or _what_is_tested(own) == _what_is_tested(options):
            # Papers print some figures in several tables.
            found.setdefault((recipe.identity, recipe.test, recipe.metric, cell.printed), cell)
    return list(found.values())


def findings(
    analysis: str, task: str, settings: dict[str, Any], options: Options | None = None
) -> list[Finding]:
    """Return what papers say that an analysis finds of a learner's runs on a task.

    It is of the same learner, but for how many updates it was given: those of the paper may be more
    than one has time for.

    Args:
        analysis: The analysis's name.
        task: The task's name.
        settings: The learner's resolved settings: model, config and protocol, every field.
        options: What a split records of its choices, if they matter; see `published`.
    """
    return [
        each
        for paper in PAPERS.loaded().values()
        for each in paper.findings
        if each.analysis == analysis
        and task in each.recipe.tasks
        and _comes_to(each.recipe, settings, options, however_long=True)
    ]


def _comes_to(
    recipe: Recipe,
    settings: dict[str, Any],
    options: Options | None,
    *,
    however_long: bool = False,
) -> bool:
    """Whether a recipe, resolved, is these settings."""
    from daxy.experiments import resolve

    own = resolve.settings_of(recipe)
    if however_long:
        own, settings = map(_of_any_length, (own, settings))
    return own == settings and (options is None or resolve.data_of(recipe).options == dict(options))


def _of_any_length(settings: dict[str, Any]) -> dict[str, Any]:
    recipe = {name: it for name, it in settings.get("protocol", {}).items() if name != "steps"}
    return {**settings, "protocol": recipe}


def _what_is_tested(options: Options) -> dict[str, Option]:
    names = ("validation", "validation_fraction", "oversample")
    return {name: value for name, value in options.items() if name not in names}
