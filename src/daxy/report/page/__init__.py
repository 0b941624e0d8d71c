"""One self-contained HTML page about finished runs. It makes no request.

`page.html` is the template. Python writes the tables (`_tables`) and the data; `page.js` draws the
charts and lists the examples; `page.css` has the style. The content security policy of the page
forbids requests. Tokens are never markup: `_html` escapes them, and the script sets text content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from daxy.core.errors import require
from daxy.core.split import Split
from daxy.report.comparison import Comparison
from daxy.report.page import _charts, _encoding, _examples, _tables
from daxy.report.page._html import element, script_json, written
from daxy.report.page._scores import (
    PublishedValue,
    PublishedValues,
    Score,
    citations,
    scores_of,
)
from daxy.report.run_groups import Group, grouped, split_of
from daxy.reproduction.ledger import Ledger
from daxy.runs.folder import RunFolder
from daxy.version import __version__

__all__ = ["Page", "page"]

Progress = Callable[[str], object]
"""Callback that takes the name of the current stage."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page and what it shows."""

    html: str
    groups: tuple[Group, ...]
    scores: tuple[tuple[Score, ...], ...]
    """Of each group."""
    notes: tuple[str, ...]
    """Reasons for missing parts of the page."""

    @property
    def runs(self) -> int:
        """Number of runs."""
        return sum(len(group.folders) for group in self.groups)

    @property
    def as_json(self) -> dict[str, Any]:
        """The scores as JSON values."""
        groups = [
            {
                "task": group.task,
                **({"test_set": group.test_set} if group.test_set else {}),
                "learner": group.label,
                "runs": [str(folder.path) for folder in group.folders],
                "scores": [score.as_json for score in scores],
            }
            for group, scores in zip(self.groups, self.scores, strict=True)
        ]
        return {"runs": self.runs, "groups": groups, "notes": list(self.notes)}


def _silent(stage: str) -> None:
    del stage


def page(
    folders: Sequence[RunFolder],
    *,
    title: str,
    ledger: Ledger,
    official: Path | None = None,
    examples: int = 4,
    progress: Progress = _silent,
) -> Page:
    """Return the page about finished runs.

    Args:
        folders: Folders of the runs: of any tasks, learners and seeds.
        title: Heading of the page.
        ledger: Measured values of published tables.
        official: Official files, for runs on official files.
        examples: Number of examples with attention or worlds per learner and task; 0 for none.
        progress: Called with the name of each stage.

    Raises:
        WrongRequest: a folder holds no finished run, or a run is given twice.
        WrongFile: a file of predictions or of the ledger is damaged.
        RunFailed: a folder is damaged.
    """
    require(examples >= 0, f"examples must not be negative, not {examples}")
    progress("reading runs")
    groups, notes = grouped(folders, official), list[str]()
    scores = [scores_of(group) for group in groups]
    progress("reading published values")
    values = PublishedValues(ledger)
    matching = [value for group in groups for value in values.of(group)]
    others = {group.title: values.others(group) for group in groups}
    splits = list[Split | None]()
    for group in groups:
        progress(f"loading {group.title}")
        splits.append(split_of(group, notes))
    blocks = list[str]()
    data = _data(groups, splits, examples, blocks, progress)
    parts = {
        "title": written(element("title", title)),
        "heading": written(*_heading(title, groups)),
        "notes": written(*(element("p", note, class_="note") for note in notes)),
        "summary": written(*_tables.summary(groups, scores)),
        "published": written(*_published(matching, others)),
        "settings": written(*_tables.settings(groups)),
        "environment": written(_tables.environment(groups)),
        "made": written(element("p", f"Made with daxy {__version__}.")),
        "data": script_json(data),
        "blocks": "".join(
            f'<script type="text/plain" id="block{number}">{block}</script>\n'
            for number, block in enumerate(blocks)
        ),
        "style": _file("page.css"),
        "script": _file("page.js"),
    }
    # Placeholders are replaced once, and not inside what replaces them.
    html = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _file("page.html"))
    return Page(
        html=html, groups=tuple(groups), scores=tuple(map(tuple, scores)), notes=tuple(notes)
    )


def _data(
    groups: Sequence[Group],
    splits: Sequence[Split | None],
    count: int,
    blocks: list[str],
    progress: Progress,
) -> dict[str, Any]:
    """Return the data of the script, and append the blocks of predictions."""
    progress("analysing runs")
    charts = {"curves": _charts.curves(groups), "breakdowns": _charts.breakdowns(groups, splits)}
    shown = list[dict[str, Any]]()
    for number, (group, split) in enumerate(zip(groups, splits, strict=True)):
        if count:
            progress(f"asking {group.folders[0].path.name} about examples")
            chosen = _examples.choose(group, split, count)
            place = {"group": number, "seed": group.seeds[0]}
            shown += [{**place, **example} for example in _examples.shown(chosen, split)]
    progress("packing predictions")
    return {
        "groups": [{"task": group.title, "label": group.label} for group in groups],
        "tests": [each.as_json(blocks) for each in _encoding.evaluated(groups, splits)],
        "looks": shown,
        **charts,
    }


def _heading(title: str, groups: Sequence[Group]) -> list[Element]:
    """Return the title and a sentence with the numbers of runs, learners and tasks."""
    runs = sum(len(group.folders) for group in groups)
    tasks = list(dict.fromkeys(group.task for group in groups))
    named = ", ".join(tasks) if len(tasks) < 4 else f"{len(tasks)} tasks"
    seeds = "1 run" if runs == 1 else f"{runs} runs"
    learners = "1 learner" if len(groups) == 1 else f"{len(groups)} learners"
    return [element("h1", title), element("p", f"{seeds} of {learners} on {named}.", class_="lead")]


def _published(
    matching: Sequence[PublishedValue], others: Mapping[str, Sequence[Comparison]]
) -> list[Element]:
    """Return published values of these learners, those of others (folded), and citations."""
    none = "No published value is of one of these learners, with all its settings."
    elements = [_tables.published(matching) if matching else element("p", none)]
    for task, comparisons in others.items():
        if comparisons:
            title = f"Published scores of other learners on {task} ({len(comparisons)})"
            table = _tables.others(task, comparisons)
            elements.append(element("details", element("summary", title), table))
    cells = [it.cell for it in matching]
    cells += [it.cell for comparisons in others.values() for it in comparisons]
    if papers := citations(cells):
        items = [element("li", citation) for citation in papers]
        elements.append(element("ul", *items, class_="note"))
    return elements


def _file(name: str) -> str:
    return (resources.files(__package__ or "daxy.report.page") / name).read_text(encoding="utf-8")
