"""Common flags and output of verbs that measure a published table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.cli._config_file import Configured
from daxy.cli._flags import Trackers
from daxy.cli._result import Result
from daxy.cli._verb import Switch
from daxy.core.errors import visible

if TYPE_CHECKING:
    from daxy.papers import Paper, Table, TableCell
    from daxy.reproduction.ledger import Ledger
    from daxy.reproduction.plan import PlanStep
    from daxy.runs.store import RunStore

Rows = tyro.conf.UseAppendAction[Annotated[tuple[str, ...], tyro.conf.arg(metavar="ROW")]]
"""Rows as printed; none means all."""
Columns = tyro.conf.UseAppendAction[Annotated[tuple[str, ...], tyro.conf.arg(metavar="COLUMN")]]
"""Columns as printed; none means all."""
Folder = Annotated[Path, tyro.conf.arg(metavar="DIR")]


def say(line: str) -> None:
    """Write a line on stderr."""
    sys.stderr.write(f"{visible(line)}\n")


def compared(
    paper: Paper, of: Table, cells: Sequence[TableCell], ledger: Ledger, /, **data: Any
) -> Result:
    """Return measured beside published of a table, with these facts beside as JSON values."""
    from daxy.report.comparison import RULE
    from daxy.report.tables import compare, for_terminal

    comparisons = compare(cells, ledger.runs(paper))
    facts = {"rule": RULE, "results": str(ledger.path(of))}
    return Result(
        data={**data, **facts, "cells": [each.as_json for each in comparisons]},
        text=for_terminal(of, comparisons),
    )


@dataclass(frozen=True, kw_only=True)
class Measures(Configured):
    """A verb that trains what is missing of a table, and files it."""

    in_file = (("table",),)

    row: Rows = ()
    """A row, or the first words of several rows; case, spaces and punctuation do not count. Repeat
    for more; all rows unless given."""
    column: Columns = ()
    """A column, in the same way: a split in most tables."""
    seeds: int | None = None
    """Number of runs of a cell: seeds 0, 1, ...; as many as in the paper unless given."""
    runs: Folder = Path("runs")
    """Folder of the run folders."""
    results: Folder = Path("results")
    """Folder of the measured runs, one JSON file a table."""
    official: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Official files to train on, as published: a folder or a .tar.xz. The tables of the
    translation experiments need them, others take none."""
    test_every: int = 0
    """Score the test set too after so many epochs, for the log and `daxy analyse over_training`;
    nothing is selected by it. 0: never. With samples or steps, `eval-every` is an epoch."""
    restart: Switch = False
    """Delete the run folders of runs that are not in the results, and train these runs again."""
    log: Trackers = ()
    """Send the logs of the runs to a tracker too: `tensorboard`, `wandb` or `mlflow` (extras of
    these names); several with commas."""

    def check_seeds(self) -> None:
        """Refuse a number of runs that is none."""
        from daxy.runs.run import seed_range

        if self.seeds is not None:
            seed_range(self.seeds)

    @property
    def store(self) -> RunStore:
        """Folder of its runs."""
        from daxy import trackers
        from daxy.runs.store import RunStore

        names = trackers.listed(self.log)
        return RunStore(self.runs, test_every=self.test_every, trackers=names)

    def planned(self, paper: Paper, cells: Sequence[TableCell], ledger: Ledger) -> list[PlanStep]:
        """Return what there is and what is missing of each cell."""
        from daxy.reproduction import plan as reproduction

        return reproduction.plan(
            paper,
            cells,
            self.seeds,
            ledger,
            self.store,
            restart=self.restart,
            official=self.official,
        )
