"""Train the networks of a table as a grid, on this machine or a cluster."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from daxy.cli._data import among
from daxy.cli._executed import Executed
from daxy.cli._flags import Alias
from daxy.cli._result import Result
from daxy.cli._table import Measures, compared, say
from daxy.cli._verb import Switch, Verb
from daxy.core.display import counted
from daxy.core.errors import require

if TYPE_CHECKING:
    from daxy.papers import Paper, Table, TableCell
    from daxy.reproduction.ledger import Ledger
    from daxy.reproduction.sweep import Sweep as Grid
    from daxy.runs.programs import Program

SETTINGS = ("cell", "layers", "hidden", "attention", "dropout")


@dataclass(frozen=True, kw_only=True)
class Sweep(Measures, Executed):
    """Train the missing runs of a table as a grid: networks of one shape train as one program.

    The plan comes first, with an estimate of the time. Runs in the results and finished runs are
    skipped, and interrupted ones resume. The runs of a program are written to the results as soon
    as it is finished.

    With a task in place of a table, train all combinations of a learner's settings: `daxy sweep
    TASK LEARNER --grid NAME=VALUE,VALUE ...`, and any flag of `daxy train`.

    Example:
        daxy sweep lake2018/grid --cell lstm --layers 2 --hidden 200 --seeds 1
        daxy sweep scan/length seq2seq --grid hidden=32,64 learning_rate=1e-3,3e-4 --seeds 3
    """

    in_file = (("table",), ("task", "learner"))

    @classmethod
    def variants(cls, words: Sequence[str]) -> Iterator[type[Verb]]:
        """Yield the sweep of a table or, where a word is a task, of a grid."""
        from daxy import tasks

        if any(among(words, tasks.exists)):
            from daxy.cli._grid import GridSweep

            yield from GridSweep.variants(words)
        else:
            yield cls

    plan: tyro.conf.Positional[Annotated[str, tyro.conf.arg(metavar="PAPER/TABLE")]]
    """The table; `daxy papers PAPER` lists them."""
    cell: Annotated[tuple[Literal["srn", "gru", "lstm"], ...], Alias("--cells")] = ()
    """Only networks with these recurrent units; `--cells` is the same flag."""
    layers: tuple[int, ...] = ()
    """Only networks with this number of layers."""
    hidden: tuple[int, ...] = ()
    """Only networks with this hidden size."""
    attention: Literal["with", "without", "both"] = "both"
    """Only networks with attention, or without."""
    dropout: tuple[float, ...] = ()
    """Only networks with this dropout."""
    dry_run: Switch = False
    """Show the plan with an estimate of the time, without training."""
    estimate: bool = True
    """Estimate the time from training a few programs for a moment; not on a cluster."""

    def run(self) -> Result:
        """Return the plan, or the table when its runs are finished."""
        from daxy import papers
        from daxy.reproduction.ledger import Ledger

        self.check_seeds()
        cluster = self.cluster()
        table = papers.table(self.plan)
        paper = papers.get(table.paper)
        return self._serve(paper, table, self._cells(table), Ledger(self.results), cluster)

    def _cells(self, table: Table) -> list[TableCell]:
        from daxy.reproduction.sweep import select

        values = {name: getattr(self, name) for name in SETTINGS}
        values["attention"] = {"with": (True,), "without": (False,), "both": ()}[self.attention]
        settings = {name: some for name, some in values.items() if some}
        cells = select(table.select(self.row, self.column), settings)
        require(bool(cells), f"{table.path}: no network fits these flags, or none is trained here")
        return cells

    def _serve(
        self,
        paper: Paper,
        table: Table,
        cells: list[TableCell],
        ledger: Ledger,
        cluster: dict[str, Any],
    ) -> Result:
        from daxy.reproduction.sweep import Sweep as Grid
        from daxy.runs import executors
        from daxy.runs.programs import Program
        from daxy.runs.progress import Display

        steps = self.planned(paper, cells, ledger)
        grid = Grid(table, steps, self.store, self.max_group_size)
        if self.restart or self.dry_run:
            # A refused request deletes nothing.
            executors.get(self.executor).check(**cluster)
        if self.restart and not self.dry_run:
            ledger.check(table)
            self._clear(grid)
        seconds = self._estimated(grid) if self.estimate and self.executor == "local" else {}
        plan = _Plan(grid, seconds)
        if self.dry_run:
            return Result(data=plan.data, text=plan.text)
        from daxy.core.console import write

        write(plan.text, sys.stderr)
        execute, programs = executors.get(self.executor).run, grid.programs
        finished = execute(programs, grid.store, Display(), **cluster) if programs else ()
        start, done = time.monotonic(), list[Program]()
        for program in grid.file_results(finished, ledger):
            done.append(program)
            say(plan.progress(done, time.monotonic() - start))
        return compared(paper, table, cells, ledger, **plan.data)

    def _clear(self, grid: Grid) -> None:
        from daxy.runs.storage import Storage

        storage = None if self.storage is None else Storage.at(self.storage)
        names = [run.config.name for run in grid.missing]
        if storage is not None:
            storage.check_left(names)  # before anything is deleted
        grid.store.clear(grid.missing)
        if storage is not None:
            storage.delete(names)

    def _estimated(self, grid: Grid) -> dict[int, float]:
        from daxy.runs.programs import CALIBRATED, estimates

        if grid.programs:
            tried = min(CALIBRATED, len(grid.programs))
            say(f"estimating the time from {tried} of {len(grid.programs)} programs")
        return dict(estimates(grid.programs))


@dataclass(frozen=True, eq=False)
class _Plan:
    """Plan of a sweep, as text and as JSON values."""

    grid: Grid
    seconds: dict[int, float]
    """Estimated seconds of each program, by its index; empty without an estimate."""

    @property
    def programs(self) -> Sequence[Program]:
        return self.grid.programs

    @property
    def data(self) -> dict[str, Any]:
        from daxy.reproduction.plan import counts

        steps = self.grid.steps
        in_results, finished, _ = counts(steps)
        return {
            "table": self.grid.table.path,
            "cells": [
                {"row": step.cell.row, "column": step.cell.column, "task": step.recipe.task}
                for step in steps
            ],
            "in_results": in_results,
            "finished": finished,
            "missing": len(self.grid.missing),
            "programs": [
                {
                    "shape": program.description,
                    "tasks": program.tasks,
                    "runs": [run.config.name for run in program.runs],
                    "samples": program.samples,
                    "seconds": self.seconds.get(index),
                }
                for index, program in enumerate(self.programs)
            ],
            "seconds": sum(self.seconds.values()) if self.seconds else None,
        }

    @property
    def text(self) -> Any:
        from rich.console import Group
        from rich.table import Table as Lines

        from daxy.runs.progress import duration

        columns = Lines(box=None, pad_edge=False)
        for name in ("program", "on", "networks", "samples", "estimate"):
            columns.add_column(name, justify="left" if name in ("program", "on") else "right")
        for index, program in enumerate(self.programs):
            estimate = duration(self.seconds[index]) if self.seconds else "-"
            on = program.tasks[0] if len(program.tasks) == 1 else f"{len(program.tasks)} tasks"
            facts = str(len(program.runs)), f"{program.samples:,}", estimate
            columns.add_row(program.description, on, *facts)
        data = self.data
        counts = f"{data['in_results']} in results, {data['finished']} finished"
        left = f"{data['missing']} to train in {counted(len(self.programs), 'program')}"
        time = f", about {duration(data['seconds'])}" if self.seconds else ""
        summary = f"{data['table']}: {counted(len(data['cells']), 'cell')}: {counts}, {left}{time}"
        return Group(columns, "", summary) if self.programs else summary

    def progress(self, finished: Sequence[Program], elapsed: float) -> str:
        """Return the progress after some programs and so many seconds."""
        from daxy.runs.progress import duration

        costs = {id(each): self.seconds.get(n, each.cost) for n, each in enumerate(self.programs)}
        folder, runs = self.grid.store.folder, sum(len(each.runs) for each in self.programs)
        done = sum(run.within(folder).has_ended for each in finished for run in each.runs)
        cost = sum(costs[id(each)] for each in finished)
        counts = f"{len(finished)} of {len(self.programs)} programs, {done} of {runs} networks"
        text = f"{counts}; {duration(elapsed)} so far"
        if not cost:  # all were trained before
            return text
        left = elapsed * (sum(costs.values()) - cost) / cost
        return f"{text}, about {duration(left)} left"


VERB = Sweep
