"""List the papers, or show a table with what was measured beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from daxy.cli._verb import Result, Verb
from daxy.core.errors import require

if TYPE_CHECKING:
    from daxy.experiments.ledger import Ledger
    from daxy.experiments.papers import Paper, Table

RESULTS = Path("results")
"""Where nothing may have been measured yet; a folder that is asked for by name has to be there."""


@dataclass(frozen=True, kw_only=True)
class Papers(Verb):
    """List the papers; with a name, its tables; with a table, its figures and those measured here.

    Example:
        daxy papers bastings2018/table4
    """

    paper: tyro.conf.Positional[Annotated[str | None, tyro.conf.arg(metavar="PAPER[/TABLE]")]] = (
        None
    )
    """The paper whose tables to list, or the table to show."""
    results: Annotated[Path, tyro.conf.arg(metavar="DIR")] = RESULTS
    """Folder of the measured runs."""

    def run(self) -> Result:
        """Return the list, the tables of a paper, or a table."""
        from daxy.experiments import papers
        from daxy.experiments.ledger import Ledger

        default = self.results == RESULTS
        require(default or self.results.exists(), f"{self.results}: no such folder")
        if self.paper is None:
            return _listed()
        if "/" in self.paper:
            return _shown(papers.table(self.paper), Ledger(self.results))
        return _contents(papers.get(self.paper), Ledger(self.results))


def _listed() -> Result:
    from rich.table import Table as Columns

    from daxy.experiments import papers

    every = [papers.get(name) for name in papers.available()]
    columns = Columns("paper", "tables", "citation", box=None, pad_edge=False)
    for paper in every:
        columns.add_row(paper.name, str(len(paper.tables)), paper.citation)
    return Result(data={"papers": {paper.name: paper.citation for paper in every}}, text=columns)


def _contents(paper: Paper, ledger: Ledger) -> Result:
    """Return the tables of a paper, each with how many of its cells are measured."""
    from rich.console import Group
    from rich.table import Table as Columns

    runs = ledger.runs(paper)
    columns = Columns("table", "measured", "title", box=None, pad_edge=False)
    tables: list[dict[str, str | int]] = []
    for table in paper.tables:
        cells = [cell for cell in table.cells if cell.recipe]
        measured = sum(bool(runs.of(cell)) for cell in cells)
        columns.add_row(table.path, f"{measured} of {len(cells)}", table.title)
        facts = {"cells": len(table.cells), "reproducible": len(cells), "measured": measured}
        tables.append({"table": table.path, "title": table.title, **facts})
    data = {"paper": paper.name, "citation": paper.citation, "tables": tables}
    return Result(data=data, text=Group(paper.citation, "", columns))


def _shown(table: Table, ledger: Ledger) -> Result:
    """Return a table with the measured figures beside the published ones."""
    from daxy.experiments import papers
    from daxy.report.tables import RULE, compare, for_terminal

    comparisons = compare(table.cells, ledger.runs(papers.get(table.paper)))
    data = {
        "table": table.path,
        "title": table.title,
        "note": table.note,
        "rule": RULE,
        "cells": [each.as_json for each in comparisons],
    }
    return Result(data=data, text=for_terminal(table, comparisons))


VERB = Papers
