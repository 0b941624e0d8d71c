"""Analyse the errors of finished runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.cli._picture import Picture, check, save
from daxy.cli._result import Result
from daxy.cli._run import run_folders
from daxy.cli._verb import Switch, Verb
from daxy.core.errors import require

if TYPE_CHECKING:
    from daxy.core.summary import Summary
    from daxy.report.analysis import AnalysisResult, Row
    from daxy.report.mistakes import Mistake, Mistakes


@dataclass(frozen=True, kw_only=True)
class Analyse(Verb):
    """Analyse the errors of finished runs of one learner on one task.

    Without a name, list the analyses. Runs with different seeds are averaged: mean, standard error,
    minimum, maximum and each run.

    Example:
        daxy analyse by_length runs/scan-length.stacked.* --draw length.png
        daxy analyse errors runs/scan-addprim_jump.* --word twice
    """

    analysis: tyro.conf.Positional[Annotated[str | None, tyro.conf.arg(metavar="ANALYSIS")]] = None
    """Name of the analysis; without one, all are listed."""
    run_folders: tyro.conf.Positional[
        Annotated[tuple[Path, ...], tyro.conf.arg(metavar="RUN")]
    ] = ()
    """Folders of finished runs."""
    test: tyro.conf.UseAppendAction[Annotated[tuple[str, ...], tyro.conf.arg(metavar="TEST")]] = ()
    """Analyse one of a task's tests, by its name; repeat for more."""
    source: tyro.conf.UseAppendAction[
        Annotated[tuple[str, ...], tyro.conf.arg(metavar="SOURCE")]
    ] = ()
    """A source whose nearest ones to find, for `neighbours`; repeat for more."""
    official: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """Official files that the runs were trained on: a file, a folder or an archive. Analyses that
    need the data read them again."""
    word: tyro.conf.UseAppendAction[Annotated[tuple[str, ...], tyro.conf.arg(metavar="WORD")]] = ()
    """A word of the sources, for `errors`; repeat for sources with all of them."""
    count: int | None = None
    """Wrong predictions of each kind that `errors` lists: by default 5, all with --json."""
    draw: Picture = None
    """Draw the findings, as .png, .svg or .pdf."""
    force: Switch = False
    """Replace that file if it exists."""

    def run(self) -> Result:
        """Return the list of analyses, or the findings of one."""
        from rich.console import Group

        from daxy.report import analyses
        from daxy.runs.folder import RunFolder

        if self.analysis is None:
            flags = "--test, --source, --official, --draw and --force"
            used = self.test or self.source or self.official or self.draw or self.force
            require(not used, f"{flags} need an analysis; expected its name")
            return _listed()
        analysis = analyses.get(self.analysis)
        if self.official is not None:
            analysis = analysis.with_official(self.official)
        check(self.draw, force=self.force)
        folders = [RunFolder(path) for path in run_folders(self.run_folders)]
        selection = getattr(self, analysis.selects)
        for flag in ("test", "source", "word"):
            unused = f"{self.analysis} takes no --{flag}; expected --{analysis.selects}"
            require(flag == analysis.selects or not getattr(self, flag), unused)
        result = analysis.with_published(analysis.run(folders, selection), folders, selection)
        has_count = self.count is not None and result.mistakes is None
        require(not has_count, f"--count is for errors, not for {self.analysis}; leave it out")
        data, parts = _data(result), [_table(result)]
        if result.mistakes is not None:
            from daxy.report.mistakes import LISTED

            usual = None if self.json else LISTED
            shown = result.mistakes.by_kind(usual if self.count is None else self.count)
            data["errors"] = {kind: [it.as_json for it in each] for kind, each in shown.items()}
            parts += _mistakes(result.mistakes, shown)
        if self.draw is not None:
            from daxy.report import analysis_plot

            save(analysis_plot.draw(result), self.draw)
            data["out"] = str(self.draw)
            parts += ["", f"{self.draw}: {result.title}"]
        return Result(data=data, text=Group(*parts))


def _listed() -> Result:
    from rich.table import Table

    from daxy.report import analyses

    every = {name: analyses.summary(name) for name in analyses.usable()}
    table = Table("analysis", "summary", box=None, pad_edge=False)
    for name, summary in every.items():
        table.add_row(name, summary)
    return Result(data={"analyses": every}, text=table)


def _mistakes(mistakes: Mistakes, shown: Mapping[str, Sequence[Mistake]]) -> Iterator[str]:
    for kind, listed in shown.items():
        yield ""
        yield f"{kind}:"
        for mistake in listed:
            yield from mistake.lines(len(mistakes.predictions))


def _data(result: AnalysisResult) -> dict[str, Any]:
    return {
        "title": result.title,
        "measure": result.measure,
        "published": [
            {
                "group": group,
                "name": name,
                "value": value,
                "spread": result.spreads.get((group, name)),
            }
            for (group, name), value in result.published.items()
        ],
        "notes": list(result.notes),
        **({"baselines": dict(result.baselines)} if result.baselines else {}),
        "rows": [
            {
                "group": row.group,
                "name": row.name,
                "examples": row.examples,
                **({} if row.chance is None else {"chance": row.chance}),
                **row.value.as_json,
                **({} if not row.others else {"others": _as_json(row.others)}),
            }
            for row in result.rows
        ],
    }


def _as_json(others: Mapping[str, Summary]) -> dict[str, Any]:
    return {metric: value.as_json for metric, value in others.items()}


def _table(result: AnalysisResult) -> Any:
    from rich.console import Group
    from rich.table import Table

    parts: list[Any] = [result.title]
    # What is the same for all is not shown: how many examples, and a spread over one run.
    counted = any(row.examples is not None for row in result.rows)
    several = any(len(row.value.runs) > 1 for row in result.rows)
    guessed = any(row.chance is not None for row in result.rows)
    head = ["examples"] * counted + ["chance"] * guessed + [result.measure]
    head += ["SEM", "min", "max"] * several
    head += dict.fromkeys(_percent(metric) for row in result.rows for metric in row.others)
    head += ["published"] * bool(result.published)
    head += ["each run"] * several
    for group, shown in result.groups.items():
        table = Table(group, box=None, pad_edge=False)
        for name in head:
            table.add_column(name, justify="right")
        for name, row in shown.items():
            figures = dict[str, str]() if row is None else _figures(row, result)
            published = result.published.get((group, name))
            spread = result.spreads.get((group, name))
            figures["published"] = "" if published is None else f"{published:g}"
            figures["published"] += "" if spread is None else f" ±{spread:g}"
            table.add_row(name, *(figures.get(column, "") for column in head))
        parts += ["", table]
    notes = [*result.notes]
    if result.baselines:
        scores = ", ".join(f"{name} {score:.1f}" for name, score in result.baselines.items())
        notes.append(f"Baselines on the whole test set (deterministic, by daxy): {scores}.")
    return Group(*parts, *(["", *notes] if notes else []))


def _figures(row: Row, result: AnalysisResult) -> dict[str, str]:
    summary, digits = row.value, 1 if result.y_max > 2 else 2
    figures = {
        "chance": row.chance or 0,
        result.measure: summary.mean,
        "SEM": summary.sem or 0,
        "min": summary.min,
        "max": summary.max,
    }
    shown = {name: f"{value:.{digits}f}" for name, value in figures.items()}
    for metric, value in row.others.items():
        shown[_percent(metric)] = f"{value.mean:.{digits}f}"
    shown["examples"] = f"{row.examples or 0:,}"
    shown["each run"] = " ".join(f"{value:.{digits}f}" for value in summary.runs)
    return shown


def _percent(metric: str) -> str:
    return f"{metric} (%)"


VERB = Analyse
