"""Learning curves and analyses of runs, as the data of charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from daxy import tasks
from daxy.core.errors import WrongRequest, visible
from daxy.core.split import Split
from daxy.report import analyses
from daxy.report.analysis import AnalysisResult, Row
from daxy.report.run_groups import Group

ANALYSES = ("by_length", "by_construction", "constructions")
"""Analyses that read run folders alone."""
IN_WORLDS = ("by_situation", *ANALYSES)
"""Analyses for tasks with worlds, whose data is known."""
CURVES = {"loss": "training loss", "validation": "validation (%)", "test": "test (%)"}
"""Fields of a log's record, with the label of their axis."""


def curves(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """Return a chart per task and curve, with a line for each run."""
    charts = list[dict[str, Any]]()
    for task, numbers in by_task(groups).items():
        logs = {number: [each.records() for each in groups[number].folders] for number in numbers}
        for field, label in CURVES.items():
            series = [
                {"group": number, "seed": seed, "points": points}
                for number, records in logs.items()
                for seed, log in zip(groups[number].seeds, records, strict=True)
                if (points := _points(log, field))
            ]
            if series:
                kind = {"task": task, "title": label.capitalize(), "label": label}
                charts.append({**kind, "logarithmic": field == "loss", "series": series})
    return charts


def _points(log: Sequence[Mapping[str, Any]], field: str) -> list[list[float]]:
    """Return steps and values of a field, in per cent unless it is the loss."""
    unit = 1 if field == "loss" else 100
    known = [(each["steps"], each.get(field)) for each in log]
    finite = [(steps, value) for steps, value in known if value is not None and isfinite(value)]
    return [[steps, _rounded(unit * value)] for steps, value in finite]


def breakdowns(groups: Sequence[Group], splits: Sequence[Split | None]) -> list[dict[str, Any]]:
    """Return a chart per task and group of an analysis's rows, with a series per group of runs."""
    charts = list[dict[str, Any]]()
    for task, numbers in by_task(groups).items():
        for name in IN_WORLDS:
            results = {number: _result(name, groups[number], splits[number]) for number in numbers}
            known = {number: result for number, result in results.items() if result is not None}
            charts += [{"task": task, **chart} for chart in _charts(name, known)]
    return charts


def _result(name: str, group: Group, split: Split | None) -> AnalysisResult | None:
    """Return the result of an analysis; None where it does not apply to the task."""
    needs_worlds = name not in ANALYSES
    if needs_worlds and (split is None or not tasks.get(group.task).grounded):
        return None
    analysis = analyses.get(name)
    if needs_worlds and group.official is not None:
        analysis = analysis.with_official(group.official)
    try:
        return analysis.with_published(analysis.run(group.folders), group.folders)
    except WrongRequest:
        return None


def _charts(name: str, results: Mapping[int, AnalysisResult]) -> Iterator[dict[str, Any]]:
    """Yield a chart for each group of rows with at least two of them, over all groups of runs."""
    for group in dict.fromkeys(group for result in results.values() for group in result.groups):
        rows = {
            number: {key: row for key, row in result.groups.get(group, {}).items() if row}
            for number, result in results.items()
        }
        names = list(dict.fromkeys(key for own in rows.values() for key in own))
        if len(names) > 1:
            title = f"{name.replace('_', ' ').capitalize()}: {group}"
            yield {"title": title, **_chart(group, names, rows, results)}


def _chart(
    group: str,
    names: list[str],
    rows: Mapping[int, Mapping[str, Row]],
    results: Mapping[int, AnalysisResult],
) -> dict[str, Any]:
    """Return the chart of a group of rows; numbers are drawn as a curve."""
    is_curve = len(names) > 2 and all(map(str.isdecimal, names))
    names = sorted(names, key=int) if is_curve else names
    examples = {name: row.examples for own in rows.values() for name, row in own.items()}
    first = next(iter(results.values()))
    return {
        "kind": "lines" if is_curve else "bars",
        "across": group,
        "label": first.measure,
        "top": min(100.0, first.y_max) if first.y_max > 2 else first.y_max,
        "names": [visible(name) for name in names],
        "examples": [examples[name] for name in names],
        "notes": list(dict.fromkeys(note for each in results.values() for note in each.notes)),
        "series": [
            {
                "group": number,
                "values": [_value(own.get(name)) for name in names],
                "published": [results[number].published.get((group, name)) for name in names],
            }
            for number, own in rows.items()
        ],
    }


def _value(row: Row | None) -> list[float] | None:
    """Return the mean over runs, the lowest and the highest run."""
    if row is None:
        return None
    runs = row.value.runs
    return [_rounded(each) for each in (row.value.mean, min(runs), max(runs))]


def by_task(groups: Sequence[Group]) -> dict[str, list[int]]:
    """Return the numbers of the groups of each test set."""
    numbers: dict[str, list[int]] = {}
    for number, group in enumerate(groups):
        numbers.setdefault(group.title, []).append(number)
    return numbers


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
