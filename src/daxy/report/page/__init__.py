"""One self-contained HTML page about finished runs. It makes no request.

`page.html` is the template. Python writes the tables (`_markup`) and the data; `page.js` draws the
charts and lists the examples; `page.css` has the style. The content security policy of the page
forbids requests. Tokens are never markup: `_markup` escapes them, and the script sets text content.
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
from daxy.report.page import _charts, _encoding, _examples, _markup
from daxy.report.page._groups import Group, grouped, split_of
from daxy.report.page._markup import element
from daxy.report.page._scores import PublishedValues, Score, citations, scores_of
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
    others = {group.task: values.others(group) for group in groups}
    splits = list[Split | None]()
    for group in groups:
        progress(f"loading {group.task}")
        splits.append(split_of(group, notes))
    progress("analysing runs")
    charts = {"curves": _charts.curves(groups), "breakdowns": _charts.breakdowns(groups, splits)}
    shown = list[dict[str, Any]]()
    for number, (group, split) in enumerate(zip(groups, splits, strict=True)):
        if examples:
            progress(f"asking {group.folders[0].path.name} about examples")
            found = _examples.looks(_examples.choose(group, split, examples), split)
            shown += [{"group": number, "seed": group.seeds[0], **look} for look in found]
    progress("packing predictions")
    blocks = list[str]()
    evaluated = _encoding.evaluated(groups, splits)
    data = {
        "groups": [{"task": group.task, "label": group.label} for group in groups],
        "tests": [each.as_json(blocks) for each in evaluated],
        "looks": shown,
        **charts,
    }
    parts = {
        "title": _markup.written(element("title", title)),
        "heading": _markup.written(*_heading(title, groups)),
        "notes": _markup.written(*(element("p", note, class_="note") for note in notes)),
        "summary": _markup.written(*_markup.summary(groups, scores)),
        "published": _markup.written(*_published(matching, others)),
        "settings": _markup.written(*_markup.settings(groups)),
        "environment": _markup.written(_markup.environment(groups)),
        "made": _markup.written(element("p", f"Made with daxy {__version__}.")),
        "data": _markup.script_json(data),
        "blocks": "".join(
            f'<script type="text/plain" id="block{number}">{block}</script>\n'
            for number, block in enumerate(blocks)
        ),
        "style": _file("page.css"),
        "script": _file("page.js"),
    }
    html = _filled(_file("page.html"), parts)
    every = tuple(map(tuple, scores))
    return Page(html=html, groups=tuple(groups), scores=every, notes=tuple(notes))


def _heading(title: str, groups: Sequence[Group]) -> list[Element]:
    """Return the title and a sentence with the numbers of runs, learners and tasks."""
    runs = sum(len(group.folders) for group in groups)
    tasks = list(dict.fromkeys(group.task for group in groups))
    named = ", ".join(tasks) if len(tasks) < 4 else f"{len(tasks)} tasks"
    seeds = "1 run" if runs == 1 else f"{runs} runs"
    learners = "1 learner" if len(groups) == 1 else f"{len(groups)} learners"
    return [element("h1", title), element("p", f"{seeds} of {learners} on {named}.", class_="lead")]


def _published(matching: Sequence[Any], others: Mapping[str, Sequence[Any]]) -> list[Element]:
    """Return published values of these learners, those of others (folded), and citations."""
    made = list[Element]()
    if matching:
        made.append(_markup.published(matching))
    else:
        none = "No published value is of one of these learners, with all its settings."
        made.append(element("p", none))
    for task, found in others.items():
        if found:
            title = f"Published scores of other learners on {task} ({len(found)})"
            shown = _markup.others(task, found)
            made.append(element("details", element("summary", title), shown))
    cells = [it.comparison.cell for it in matching]
    cells += [it.cell for found in others.values() for it in found]
    if papers := citations(cells):
        items = [element("li", citation) for citation in papers]
        made.append(element("ul", *items, class_="note"))
    return made


def _file(name: str) -> str:
    return (resources.files(__package__ or "daxy.report.page") / name).read_text(encoding="utf-8")


def _filled(template: str, parts: Mapping[str, str]) -> str:
    """Return a template with `{{name}}` replaced, once and not in what replaces it."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)
