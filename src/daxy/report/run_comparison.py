"""Learners side by side on one test set: scores, differences, lengths, constructions, examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import UnknownName, WrongRequest, require
from daxy.formats import predictions
from daxy.report import run_data
from daxy.report._figure import new_figure
from daxy.report.analyses import by_construction, by_length
from daxy.report.analysis import Row
from daxy.report.correctness import Correctness
from daxy.report.difference import Difference, difference
from daxy.report.run_groups import Group, grouped
from daxy.runs.folder import RunFolder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BARS, LINES = "C{}", "o^sv"
"""Colors of learners, and markers of their curves."""


@dataclass(frozen=True, kw_only=True)
class Parted:
    """An example that one learner gets right more often than another."""

    source: str
    target: str
    shares: tuple[float, float]
    """Share of each learner's runs that is right."""
    predictions: tuple[str, str]
    """Prediction of each learner's first run."""


@dataclass(frozen=True, eq=False)
class RunComparison:
    """Groups of runs on the same test set."""

    groups: Sequence[Group]
    results: Sequence[Correctness]
    """Correctness of each group on the compared examples."""
    rows: NDArray[np.int64]
    """Positions of these in the test set."""
    tests: Mapping[str, NDArray[np.bool_]]
    """Mask of the examples of each of several tests, by name; empty for a single test."""

    @classmethod
    def of(cls, folders: Sequence[RunFolder], test: str | None = None) -> RunComparison:
        """Return the comparison of finished runs, grouped by learner.

        Args:
            folders: Folders of the runs.
            test: Name of one of several tests; None for the whole test set.

        Raises:
            UnknownName: there is no such test.
            WrongRequest: there is one learner only, or the test sets differ.
            WrongFile: the data of several tests cannot be read again.
            RunFailed: a folder is damaged.
        """
        groups = grouped(folders)
        one = f"all runs are of one learner, {groups[0].label}; expected runs of several"
        require(len(groups) > 1, one)
        first = groups[0].correctness
        for group in groups[1:]:
            other = group.correctness
            is_same = len(other.targets) == len(first.targets) and all(
                side.matches(wanted).all()
                for side, wanted in ((other.sources, first.sources), (other.targets, first.targets))
            )
            paths = f"{group.folders[0].path} has another test set than {groups[0].folders[0].path}"
            require(is_same, f"{paths}; expected runs on the same test set")
            metrics = f"{other.metric} and {first.metric}"
            require(other.metric == first.metric, f"{paths}: they are scored by {metrics}")
        slices = _tests(groups[0])
        if test is not None and test not in slices:
            require(bool(slices), f"{groups[0].task} has one test; leave out --test")
            raise UnknownName("test", test, slices)
        rows = np.arange(len(first.targets))
        tests = {name: (rows >= at.start) & (rows < at.stop) for name, at in slices.items()}
        rows = rows if test is None else rows[slices[test]]
        results = [group.correctness.take(rows) for group in groups]
        return cls(groups, results, rows, {} if test else tests)

    @property
    def right(self) -> list[NDArray[np.bool_]]:
        """Correctness of each group: shape [runs, examples] each."""
        return [results.right for results in self.results]

    @cached_property
    def differences(self) -> list[Difference]:
        """Difference of each pair of groups."""
        labels = [group.label for group in self.groups]
        pairs = combinations(zip(labels, self.right, strict=True), 2)
        return [difference(*first, *second) for first, second in pairs]

    @cached_property
    def tables(self) -> dict[str, dict[str, list[Row | None]]]:
        """Row of each group by criterion and value: test, length, construction."""
        tables: dict[str, dict[str, list[Row | None]]] = {}
        for index, results in enumerate(self.results):
            for row in _rows(results, self.tests):
                rows = tables.setdefault(row.group, {})
                rows.setdefault(row.name, [None] * len(self.groups))[index] = row
        return tables

    def parted(self, first: int, second: int, count: int) -> list[Parted]:
        """Return the examples where the first of two groups does better, short targets first."""
        one, two = (self.right[index].mean(axis=0) for index in (first, second))
        lead, lengths = one - two, self.results[first].targets.lengths
        rows = [int(row) for row in np.lexsort((lengths, -lead))[:count] if lead[row] > 0]
        outputs = [
            predictions.stored(self.groups[index].folders[0].predictions).take(self.rows[rows])
            for index in (first, second)
        ]
        results = self.results[first]
        return [
            Parted(
                source=" ".join(results.sources[row]),
                target=" ".join(results.targets[row]),
                shares=(float(one[row]), float(two[row])),
                predictions=(" ".join(outputs[0][at]), " ".join(outputs[1][at])),
            )
            for at, row in enumerate(rows)
        ]

    @property
    def as_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "task": self.groups[0].task,
            "metric": self.results[0].metric,
            "learners": [
                {
                    "label": group.label,
                    "runs": [str(folder.path) for folder in group.folders],
                    "examples": right.shape[1],
                    **summary.as_json,
                }
                for group, right, summary in zip(
                    self.groups, self.right, self.summaries, strict=True
                )
            ],
            "differences": [it.as_json for it in self.differences],
            "tables": {
                name: {
                    value: [row and row.value.as_json for row in rows]
                    for value, rows in table.items()
                }
                for name, table in self.tables.items()
            },
        }

    @property
    def summaries(self) -> list[Any]:
        """Accuracy of each group, in per cent."""
        return [results.accuracy(np.ones(len(self.rows), np.bool_)) for results in self.results]

    def draw(self) -> Figure:
        """Return a figure: accuracy of each learner, and by length of the target."""
        figure = new_figure(11, 4)
        bars, curves = figure.subplots(1, 2, width_ratios=[1, 2])
        lengths = self.tables["tokens in the target"]
        across = [int(length) for length in lengths]
        for index, (group, summary) in enumerate(zip(self.groups, self.summaries, strict=True)):
            color = BARS.format(index % 10)
            bars.bar(index, summary.mean, yerr=summary.deviation, color=color, label=group.label)
            bars.plot([index] * len(summary.runs), summary.runs, ".", color="black", alpha=0.5)
            rows = [row[index] for row in lengths.values()]
            means = [np.nan if row is None else row.value.mean for row in rows]
            marker = LINES[index % len(LINES)]
            curves.plot(across, means, marker=marker, markersize=4, color=color)
        bars.set(ylabel="right (%)", ylim=(0, 102), xticks=[])
        curves.set(xlabel="tokens in the target", ylabel="right (%)", ylim=(0, 102))
        figure.legend(loc="outside lower center", ncols=min(4, len(self.groups)))
        figure.suptitle(f"{self.groups[0].task}: learners compared")
        return figure


def _tests(group: Group) -> Mapping[str, slice]:
    """Return the rows of each of several tests; empty for a single test."""
    if not group.scores[0].get("tests"):
        return {}
    return run_data.split_of(group.folders[0], group.official).tests


def _rows(results: Correctness, tests: Mapping[str, NDArray[np.bool_]]) -> Iterator[Row]:
    """Yield rows by test, by length of the target, and by construction where there are some."""
    yield from (results.row("test", name, chosen) for name, chosen in tests.items())
    for row in by_length.by_length(results).rows:
        if row.group == "tokens in the target":
            yield row
    try:
        yield from by_construction.constructions(results)
    except WrongRequest:
        return  # a task without constructions
