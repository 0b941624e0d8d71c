"""Scores of runs, beside published values and those of the ledger."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from daxy import papers
from daxy.core.settings import to_dict
from daxy.core.summary import Summary
from daxy.metrics import is_share
from daxy.papers import RunSpec, TableCell
from daxy.report.comparison import PER_CENT, Comparison, unit_of
from daxy.report.run_groups import Group
from daxy.report.tables import compare
from daxy.reproduction import published
from daxy.reproduction.ledger import Ledger, Runs


@dataclass(frozen=True, kw_only=True)
class Score:
    """One score of a group: a metric on its test set, or on one of several tests."""

    metric: str
    test: str
    """Name of one of several tests; empty for the whole test set."""
    is_primary: bool
    summary: Summary
    """In per cent."""
    published: tuple[TableCell, ...]
    """Published values of the same learner, metric and test."""

    @property
    def as_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "metric": self.metric,
            "test": self.test,
            **self.summary.as_json,
            "published": [cell.printed for cell in self.published],
        }


def scores_of(group: Group) -> list[Score]:
    """Return every metric on the test set, then the primary one on each of several tests."""
    first = group.scores[0]
    primary = first["metric"]
    # By name of the test; empty for all of it.
    metrics = {"": list(dict.fromkeys((primary, *first["test"])))}
    metrics |= {test: [primary] for test in first.get("tests", {})}
    return [
        Score(
            metric=metric,
            test=test,
            is_primary=metric == primary,
            summary=Summary(runs=tuple(_figure(each, test, metric) for each in group.scores)),
            published=tuple(it for it in group.published if _is_of(it.recipe, test, metric)),
        )
        for test, names in metrics.items()
        for metric in names
    ]


def _figure(scores: dict[str, Any], test: str, metric: str) -> float:
    return (100 if is_share(metric) else 1) * _on(scores, test)[metric]


def _on(scores: dict[str, Any], test: str) -> dict[str, float]:
    """Return every metric of a run on its test set, or on one of several tests."""
    return scores.get("tests", {}).get(test, {}) if test else scores["test"]


def _is_of(recipe: RunSpec | None, test: str, metric: str) -> bool:
    """Whether a cell is a score on the test set, or on the named test, by this metric."""
    if recipe is None or recipe.part != "test" or recipe.after_steps:
        return False
    return (recipe.test, recipe.metric) == (test, metric)


@dataclass(frozen=True, kw_only=True)
class PublishedValue:
    """A published value beside the ledger's and that of a group."""

    group: Group
    comparison: Comparison
    """Cell of a table with the runs of the ledger."""
    here: Summary | None
    """Value of the report's runs; None if their scores lack it."""

    @property
    def cell(self) -> TableCell:
        return self.comparison.cell


@dataclass
class PublishedValues:
    """Published values for groups, and the runs of the ledger behind them."""

    ledger: Ledger
    _runs: dict[str, Runs] = field(default_factory=dict[str, Runs])
    """By paper."""

    def of(self, group: Group) -> list[PublishedValue]:
        """Return the published values for a group's learner on its task.

        A value that a paper prints in several tables is returned once.
        """
        cells = dict[tuple[object, ...], TableCell]()
        for cell in group.published:
            assert cell.recipe is not None, cell
            cells.setdefault((cell.paper, cell.printed, json.dumps(to_dict(cell.recipe))), cell)
        return [
            PublishedValue(group=group, comparison=self._compared(cell), here=_here(cell, group))
            for cell in cells.values()
        ]

    def others(self, group: Group) -> list[Comparison]:
        """Return published scores of any other learner on the same test set."""
        cells = published.of_test(group.task, group.config.options)
        return [self._compared(cell) for cell in cells if cell not in group.published]

    def _compared(self, cell: TableCell) -> Comparison:
        if cell.paper not in self._runs:
            self._runs[cell.paper] = self.ledger.runs(papers.get(cell.paper))
        return compare([cell], self._runs[cell.paper])[0]


def _here(cell: TableCell, group: Group) -> Summary | None:
    """Return the value of a cell for the runs of a group; None where their scores lack it."""
    assert cell.recipe is not None, cell
    values = [_value(cell, scores) for scores in group.scores]
    known = [cell.recipe.unit * value for value in values if value is not None]
    return Summary(runs=tuple(known)) if len(known) == len(values) else None


def _value(cell: TableCell, scores: dict[str, Any]) -> float | None:
    recipe = cell.recipe
    assert recipe is not None, cell
    if unit_of(cell) != PER_CENT:  # a value of training, and no score
        return scores.get(recipe.metric)
    if recipe.after_steps:
        return None
    if recipe.part == "validation":
        return scores.get("validation_scores", {}).get(recipe.metric)
    return _on(scores, recipe.test).get(recipe.metric) if recipe.part == "test" else None


def citations(cells: Sequence[TableCell]) -> list[str]:
    """Return the papers of cells, each once."""
    return [papers.get(name).citation for name in dict.fromkeys(cell.paper for cell in cells)]
