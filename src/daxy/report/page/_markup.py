"""HTML elements, and the parts of the page that need no script."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element, tostring

from daxy import metrics
from daxy.core.errors import visible
from daxy.core.summary import Summary
from daxy.report.page._groups import Group, differing
from daxy.report.page._scores import PublishedValue, Score
from daxy.report.tables import Comparison

Child = Element | str | None

PLACES = ("daxy", "python", "jax", "device_kind", "devices", "processor", "cores")
"""Fields of `environment.json` that the page shows."""
STRIP = 160.0
"""Width of a strip of scores, in units of its own."""


def element(name: str, *children: Child, **attributes: str | int | float) -> Element:
    """Return an element; its texts are escaped when it is written, and None is no child.

    An underscore ends a name that is a word of Python (`class_`), and else stands for a hyphen.
    """
    named = {key.rstrip("_").replace("_", "-"): str(value) for key, value in attributes.items()}
    made = Element(name, named)
    for child in children:
        if isinstance(child, Element):
            made.append(child)
        elif child is not None and len(made):
            made[-1].tail = (made[-1].tail or "") + visible(child)
        elif child is not None:
            made.text = (made.text or "") + visible(child)
    return made


def written(*elements: Element) -> str:
    """Return elements as HTML."""
    return "".join(tostring(each, encoding="unicode", method="html") for each in elements)


def table(
    head: Sequence[str], bodies: Iterable[Element], *, caption: str, numbers: Sequence[str] = ()
) -> Element:
    """Return a table in a box that scrolls sideways where the screen is narrow.

    Args:
        head: Names of the columns.
        bodies: Parts of the table, each a `tbody`.
        caption: Title for screen readers.
        numbers: Names of the columns that hold numbers.
    """
    cells = [
        element("th", name, scope="col", class_="number" if name in numbers else "text")
        for name in head
    ]
    made = element(
        "table",
        element("caption", caption, class_="hidden"),
        element("thead", element("tr", *cells)),
        *bodies,
    )
    return element("div", made, class_="scroll", tabindex=0, role="region", aria_label=caption)


def row(head: Child, *cells: Child, kinds: Sequence[str] = ()) -> Element:
    """Return a table's row whose first cell is its heading; kinds are classes of the others."""
    classes = [*kinds, *["text"] * (len(cells) - len(kinds))]
    others = [element("td", cell, class_=kind) for cell, kind in zip(cells, classes, strict=True)]
    return element("tr", element("th", head, scope="row"), *others)


def summary(groups: Sequence[Group], scores: Sequence[Sequence[Score]]) -> list[Element]:
    """Return the table of scores, task by task, and what its metrics mean."""
    has_published = any(each.published for own in scores for each in own)
    head = ["Learner", "Runs", "Score (%)", "Lowest to highest", "Runs from 0 to 100"]
    head += ["Published (%)"] * has_published
    kinds = ["number", "number", "number range", "strip", *["number"] * has_published]
    bodies = list[Element]()
    for task in dict.fromkeys(group.task for group in groups):
        title = element("th", task, scope="rowgroup", colspan=len(head))
        lines = [element("tr", title, class_="group")]
        for number, (group, own) in enumerate(zip(groups, scores, strict=True)):
            if group.task == task:
                lines += _score_rows(number, group, own, kinds)
        bodies.append(element("tbody", *lines))
    shown = table(head, bodies, caption="Scores by task and learner", numbers=head[1:])
    names = dict.fromkeys(each.metric for own in scores for each in own)
    meanings = [
        part
        for name in names
        for part in (element("dt", name), element("dd", f"{metrics.get(name).summary}."))
    ]
    note = "Score: mean over runs ± standard deviation (of the population). Marks: one per run,"
    note += " a line at the mean" + ", a diamond at the published value." * has_published
    note += "." * (not has_published)
    return [shown, element("p", note, class_="note"), element("dl", *meanings, class_="terms")]


def _score_rows(
    number: int, group: Group, scores: Sequence[Score], kinds: Sequence[str]
) -> list[Element]:
    rows = list[Element]()
    for place, score in enumerate(scores):
        label = group.label if place == 0 else ""
        test = f"test {score.test}, " if score.test else ""
        name = element("span", f"{test}{score.metric}", class_="metric")
        key = element("span", class_=f"key c{number}", aria_hidden="true") if label else None
        head = element("span", key, element("span", label) if label else None, " ", name)
        own = score.summary.runs
        cells: list[Child] = [
            f"{len(own)}",
            score.summary.text(unit=1),
            f"{min(own):.1f} to {max(own):.1f}" if len(own) > 1 else "",
            strip(score.summary, [cell.value for cell in score.published]),
        ]
        if "number" in kinds[4:]:
            cells.append("; ".join(dict.fromkeys(cell.printed for cell in score.published)))
        made = row(head, *cells, kinds=kinds)
        made.set("class", "primary" if place == 0 else "secondary")
        rows.append(made)
    return rows


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
    head = ["Published in", "Learner and score", "Published", "Ledger", "These runs"]
    rows = [
        row(
            f"{it.cell.paper}/{it.cell.table}: {it.cell.row}, {it.cell.column}",
            f"{it.group.task}, {it.group.label}: {_figure(it)}",
            it.cell.printed,
            _measured(it.comparison),
            _with_count(it.here, it.comparison),
            kinds=["text", "number", "number", "number"],
        )
        for it in values
    ]
    caption = "Published values for these learners, in per cent unless named perplexity"
    return table(head, [element("tbody", *rows)], caption=caption, numbers=head[2:])


def others(task: str, comparisons: Sequence[Comparison]) -> Element:
    """Return the table of published scores of other learners on a task."""
    head = ["Published in", "Learner", "Column", "Score", "Published", "Ledger"]
    rows = [
        row(
            f"{it.cell.paper}/{it.cell.table}",
            it.cell.row,
            it.cell.column,
            _metric(it),
            it.cell.printed,
            _measured(it),
            kinds=["text", "text", "text", "number", "number"],
        )
        for it in comparisons
    ]
    caption = f"Published scores of other learners on {task}, in per cent"
    return table(head, [element("tbody", *rows)], caption=caption, numbers=head[4:])


def _figure(value: PublishedValue) -> str:
    recipe = value.cell.recipe
    part = f" on the {recipe.part} set" if recipe and recipe.part == "validation" else ""
    return f"{_metric(value.comparison)}{part}"


def _metric(comparison: Comparison) -> str:
    recipe = comparison.cell.recipe
    if recipe is None:
        return ""
    return f"test {recipe.test}, {recipe.metric}" if recipe.test else recipe.metric


def _measured(comparison: Comparison) -> str:
    return _with_count(comparison.summary, comparison)


def _with_count(values: Summary | None, comparison: Comparison) -> str:
    """Return a summary with its number of runs, in the digits of the paper."""
    if values is None:
        return "–"
    return f"{values.text(max(1, comparison.cell.digits), unit=1)} (n = {len(values.runs)})"


def settings(groups: Sequence[Group]) -> list[Element]:
    """Return the settings that all groups share, and a table of those in which they differ."""
    different = differing(groups)
    common = {key: it for key, it in groups[0].settings.items() if key not in different}
    made = list[Element]()
    if different:
        head = ["Setting", *(f"{group.task} {group.label}" for group in groups)]
        rows = [
            row(_named(key), *(_value(group.settings, key) for group in groups))
            for key in different
        ]
        made.append(element("h3", "Settings that differ"))
        caption = "Settings that differ, by task and learner"
        made.append(table(head, [element("tbody", *rows)], caption=caption))
        made.append(element("h3", "Settings that all runs share"))
    pairs = [
        element("div", element("dt", _named(key)), element("dd", _value(common, key)))
        for key in common
    ]
    made.append(element("dl", *pairs, class_="settings"))
    return made


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
    head = ["Run", "Started", "Epochs", "Best epoch", "Steps", "Minutes", *map(_place, PLACES)]
    rows = list[Element]()
    for group in groups:
        for folder, scores in zip(group.folders, group.scores, strict=True):
            place = folder.environment()
            seconds = scores.get("seconds")
            diverged = " (diverged)" if scores.get("diverged") else ""
            cells = [
                str(place.get("started", "–")),
                f"{scores['epochs']:,}{diverged}",
                f"{scores['best_epoch']:,}",
                f"{scores['steps']:,}",
                "–" if seconds is None else f"{seconds / 60:.1f}",
                *(str(place.get(name, "–")) for name in PLACES),
            ]
            kinds = ["text", "number", "number", "number", "number"]
            rows.append(row(element("code", folder.path.name), *cells, kinds=kinds))
    caption = "Runs with their training and environment"
    return table(head, [element("tbody", *rows)], caption=caption, numbers=head[2:6])


def _place(name: str) -> str:
    return {"daxy": "daxy", "jax": "JAX", "device_kind": "Device"}.get(name, name.capitalize())


def script_json(value: Any) -> str:
    """Return a value as JSON that cannot end the script element that holds it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
