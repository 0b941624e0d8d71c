"""List the papers, or show a published table with the measured scores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from daxy.cli._picture import Picture, check, save
from daxy.cli._result import Result
from daxy.cli._table import Columns, Rows
from daxy.cli._verb import Switch, Verb
from daxy.core.errors import require

if TYPE_CHECKING:
    from daxy.papers import Paper, Table
    from daxy.reproduction.ledger import Ledger


@dataclass(frozen=True, kw_only=True)
class Papers(Verb):
    """List the papers, or the tables of a paper, or show a table with the measured scores.

    Example:
        daxy papers bastings2018/table4
        daxy papers ruis2020/curve --draw curve.png
    """

    paper: tyro.conf.Positional[Annotated[str | None, tyro.conf.arg(metavar="PAPER[/TABLE]")]] = (
        None
    )
    """The paper whose tables to list, or the table to show."""
    results: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Folder of the measured runs; by default `results` here, else the results that come with
    daxy."""
    row: Rows = ()
    """A row, or the first words of several rows; case, spaces and punctuation do not count. Repeat
    for more; by default all rows."""
    column: Columns = ()
    """A column, in the same way."""
    draw: Picture = None
    """Draw the published and the measured scores, as .png, .svg or .pdf."""
    force: Switch = False
    """Replace that file if it exists."""

    def run(self) -> Result:
        """Return the list, the tables of a paper, or a table."""
        from daxy import papers

        exists = self.results is None or self.results.exists()
        require(exists, f"{self.results}: no such folder")
        if self.paper is not None and "/" in self.paper:
            return self._shown(papers.table(self.paper), self._ledger())
        whole = "--row, --column, --draw and --force need a table, as bastings2018/table4"
        require(not (self.row or self.column or self.draw or self.force), whole)
        if self.paper is None:
            return _listed()
        return _contents(papers.get(self.paper), self._ledger())

    def _ledger(self) -> Ledger:
        from daxy.reproduction.ledger import Ledger, measured_folder

        return Ledger(self.results or measured_folder())

    def _shown(self, table: Table, ledger: Ledger) -> Result:
        from daxy import papers
        from daxy.report.comparison import RULE
        from daxy.report.tables import compare, for_terminal

        check(self.draw, force=self.force)
        cells = table.select(self.row, self.column)
        comparisons = compare(cells, ledger.runs(papers.get(table.paper)))
        data = {
            "table": table.path,
            "title": table.title,
            "note": table.note,
            "rule": RULE,
            "results": str(ledger.path(table)),
            "differences": table.differences,
            "cells": [each.as_json for each in comparisons],
        }
        if self.draw is not None:
            from daxy.report import pictures

            save(pictures.published(table, comparisons), self.draw)
            drawn = f"{self.draw}: published and measured scores of {table.path}"
            return Result(data=data | {"out": str(self.draw)}, text=drawn)
        return Result(data=data, text=for_terminal(table, comparisons))


def _listed() -> Result:
    from rich.table import Table as Lines

    from daxy import papers

    every = [*papers.PAPERS.loaded().values()]
    columns = Lines("paper", "tables", "citation", box=None, pad_edge=False)
    for paper in every:
        columns.add_row(paper.name, str(len(paper.tables)), paper.citation)
    data = {
        "papers": {paper.name: paper.citation for paper in every},
        "tables": {paper.name: len(paper.tables) for paper in every},
    }
    return Result(data=data, text=columns)


def _contents(paper: Paper, ledger: Ledger) -> Result:
    from rich.console import Group
    from rich.table import Table as Lines

    runs = ledger.runs(paper)
    columns = Lines("table", "measured", "title", box=None, pad_edge=False)
    tables: list[dict[str, str | int]] = []
    for table in paper.tables:
        cells = [cell for cell in table.cells if cell.recipe]
        measured = sum(bool(runs.of(cell)) for cell in cells)
        columns.add_row(table.path, f"{measured} of {len(cells)}", table.title)
        facts = {"cells": len(table.cells), "reproducible": len(cells), "measured": measured}
        tables.append({"table": table.path, "title": table.title, **facts})
    data = {
        "paper": paper.name,
        "citation": paper.citation,
        "tables": tables,
        "elsewhere": dict(paper.elsewhere),
    }
    shown = [f"{paper.name}/{name}: {command}" for name, command in paper.elsewhere.items()]
    others = ["", "Other commands show its other tables and figures:", *shown]
    return Result(data=data, text=Group(paper.citation, "", columns, *(others if shown else [])))


VERB = Papers
