"""Tables of the page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from daxy import metrics
from daxy.core.summary import Summary
from daxy.papers import TableCell
from daxy.report.comparison import Comparison, unit_of
from daxy.report.page._html import Child, element, row, table
from daxy.report.page._scores import PublishedValue, Score
from daxy.report.run_groups import Group, differing
from daxy.runs.folder import RunFolder

ENVIRONMENT = {
    **{"daxy": "daxy", "python": "Python", "jax": "JAX", "device_kind": "Device"},
    **{"devices": "Devices", "processor": "Processor", "cores": "Cores"},
}
"""Fields of `environment.json` that the page shows, with their headings."""
COLORS = 8
"""Number of colors; the learners on a test set take them in turn."""
STRIP = 160.0
"""Width of a strip of scores, in pixels."""


def summary(groups: Sequence[Group], scores: Sequence[Sequence[Score]]) -> list[Element]:
    """Return the table of scores by test set, a legend, and the definitions of its metrics."""
    has_published = any(each.published for own in scores for each in own)
    head = {"Learner": "text", "Runs": "number", "Score (%)": "number"}
    head |= {"Lowest to highest": "number range", "Runs from 0 to 100": "strip"}
    head |= {"Published (%)": "number"} if has_published else {}
    bodies = list[list[Element]]()
    for name in dict.fromkeys(group.title for group in groups):
        title = element("th", name, scope="rowgroup", colspan=len(head))
        rows = [element("tr", title, class_="group")]
        alike = [pair for pair in zip(groups, scores, strict=True) if pair[0].title == name]
        for place, (group, own) in enumerate(alike):
            rows.append(_score_row(head, group, own[0], f"key c{place % COLORS}"))
            rows += [_score_row(head, group, score) for score in own[1:]]
        bodies.append(rows)
    names = dict.fromkeys(each.metric for own in scores for each in own)
    meanings = [
        part
        for name in names
        for part in (element("dt", name), element("dd", f"{metrics.get(name).summary}."))
    ]
    note = "Score: mean over runs ± standard deviation (of the population). Marks: one per run,"
    note += " a line at the mean" + ", a diamond at a published value" * has_published + "."
    shown = table(head, bodies, "Scores by task and learner")
    return [shown, element("p", note, class_="note"), element("dl", *meanings, class_="terms")]


def _score_row(head: Mapping[str, str], group: Group, score: Score, key: str = "") -> Element:
    """Return the row of a score; `key` is the class of the color mark in a group's first row."""
    test = f"test {score.test}, " if score.test else ""
    name = element(
        "span",
        element("span", class_=key, aria_hidden="true") if key else None,
        element("span", f"{group.label} ", class_="learner" if key else "hidden"),
        element("span", f"{test}{score.metric}", class_="metric"),
    )
    runs = score.summary.runs
    cells: list[Child] = [
        name,
        f"{len(runs)}",
        score.summary.text(unit=1),
        f"{min(runs):.1f} to {max(runs):.1f}" if len(runs) > 1 else "",
        strip(score.summary, [cell.value for cell in score.published]),
        "; ".join(dict.fromkeys(cell.printed for cell in score.published)),
    ]
    return row(head, *cells[: len(head)], class_="primary" if key else "secondary")


def strip(values: Summary, published: Sequence[float | None]) -> Element:
    """Return a drawing of scores in per cent: a mark per run, their mean, and published values."""

    def at(value: float) -> float:
        return round(4 + (STRIP - 8) * min(max(value, 0), 100) / 100, 1)

    known = [value for value in published if value is not None]
    said = f"mean {values.mean:.1f}, runs " + ", ".join(f"{each:.1f}" for each in values.runs)
    said += "".join(f", published {value:g}" for value in known)
    mean, height = at(values.mean), 16
    return element(
        "svg",
        element("line", x1=4, x2=STRIP - 4, y1=8, y2=8, class_="track"),
        *[element("circle", cx=at(value), cy=8, r=3, class_="run") for value in values.runs],
        element("line", x1=mean, x2=mean, y1=2, y2=14, class_="mean"),
        *[element("path", d=f"M{at(it)} 3l4 5l-4 5l-4-5z", class_="published") for it in known],
        viewBox=f"0 0 {STRIP:g} {height}",
        width=int(STRIP),
        height=height,
        role="img",
        aria_label=said,
    )


def published(values: Sequence[PublishedValue]) -> Element:
    """Return the table of published values beside the ledger's and those of the runs."""
    head = {"Published in": "text", "Learner and score": "text"}
    head |= dict.fromkeys(("Published", "Ledger", "These runs"), "number")
    rows = [
        row(
            head,
            f"{it.cell.paper}/{it.cell.table}: {it.cell.row}, {it.cell.column}",
            f"{it.group.title}, {it.group.label}: {_score_named(it.comparison)}",
            it.cell.printed,
            _with_count(it.comparison.summary, it.cell),
            _with_count(it.here, it.cell),
        )
        for it in values
    ]
    units = " or ".join(dict.fromkeys(unit_of(it.cell) for it in values))
    return table(head, [rows], f"Published values for these learners, in {units}")


def others(task: str, comparisons: Sequence[Comparison]) -> Element:
    """Return the table of published scores of other learners on a task."""
    head = {"Published in": "text", "Learner": "text", "Column": "text", "Score": "text"}
    head |= dict.fromkeys(("Published", "Ledger"), "number")
    rows = [
        row(
            head,
            f"{it.cell.paper}/{it.cell.table}",
            it.cell.row,
            it.cell.column,
            _score_named(it),
            it.cell.printed,
            _with_count(it.summary, it.cell),
        )
        for it in comparisons
    ]
    return table(head, [rows], f"Published scores of other learners on {task}, in per cent")


def _score_named(comparison: Comparison) -> str:
    """Return the metric of a published value, with the test or part that it is on."""
    recipe = comparison.cell.recipe
    if recipe is None:
        return ""
    part = "" if recipe.part == "test" else f" on the part {recipe.part}"
    return (f"test {recipe.test}, {recipe.metric}" if recipe.test else recipe.metric) + part


def _with_count(values: Summary | None, cell: TableCell) -> str:
    """Return a summary with its number of runs, in the digits of the paper."""
    if values is None:
        return "–"
    return f"{values.text(max(1, cell.digits), unit=1)} (n = {len(values.runs)})"


def settings(groups: Sequence[Group]) -> list[Element]:
    """Return the settings of the learners on each test set, folded if there are several."""
    titles = list(dict.fromkeys(group.title for group in groups))
    every = {name: _settings([it for it in groups if it.title == name]) for name in titles}
    if len(titles) == 1:
        return every[titles[0]]
    return [
        element("details", element("summary", element("code", name)), *shown)
        for name, shown in every.items()
    ]


def _settings(groups: Sequence[Group]) -> list[Element]:
    """Return a table of the settings in which groups differ, and a list of the others."""
    different, made = differing(groups), list[Element]()
    common = {key: it for key, it in groups[0].settings.items() if key not in different}
    if different:
        head = dict.fromkeys(("Setting", *(group.label for group in groups)), "text")
        rows = [
            row(head, _named(key), *(_value(group.settings, key) for group in groups))
            for key in different
        ]
        made.append(table(head, [rows], f"Settings that differ on {groups[0].title}"))
        made.append(element("p", "All of these learners share:"))
    pairs = [
        element("div", element("dt", _named(key)), element("dd", _value(common, key)))
        for key in common
    ]
    return [*made, element("dl", *pairs, class_="settings")]


def _named(key: tuple[str, str]) -> str:
    section, name = key
    return f"{section}: {name.replace('_', ' ')}"


def _value(values: Mapping[tuple[str, str], Any], key: tuple[str, str]) -> str:
    if key not in values:
        return "–"
    value = values[key]
    return value if isinstance(value, str) else json.dumps(value)


def environment(groups: Sequence[Group]) -> Element:
    """Return the table of runs: where and when each was trained, and for how long."""
    head = {"Run": "text", "Started": "text"}
    head |= dict.fromkeys(("Epochs", "Best epoch", "Steps", "Minutes"), "number")
    head |= dict.fromkeys(ENVIRONMENT.values(), "text")
    rows = [
        _run_row(head, folder, scores)
        for group in groups
        for folder, scores in zip(group.folders, group.scores, strict=True)
    ]
    return table(head, [rows], "Runs with their training and environment")


def _run_row(head: Mapping[str, str], folder: RunFolder, scores: Mapping[str, Any]) -> Element:
    place, seconds = folder.environment(), scores.get("seconds")
    diverged = " (diverged)" if scores.get("diverged") else ""
    return row(
        head,
        element("code", folder.path.name),
        str(place.get("started", "–")),
        f"{_count(scores, 'epochs')}{diverged}",
        _count(scores, "best_epoch"),
        _count(scores, "steps"),
        "–" if seconds is None else f"{seconds / 60:.1f}",
        *(str(place.get(name, "–")) for name in ENVIRONMENT),
    )


def _count(scores: Mapping[str, Any], name: str) -> str:
    """Return a count of a run's training; a dash for a learner without it."""
    return f"{scores[name]:,}" if name in scores else "–"
