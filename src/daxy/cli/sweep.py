"""Train the networks of a table as a grid, on this machine or a cluster."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from daxy.cli._result import Result
from daxy.cli._table import Measures, compared, say
from daxy.cli._verb import Switch
from daxy.core.display import counted
from daxy.core.errors import require

if TYPE_CHECKING:
    from daxy.papers import Cell, Paper, Table
    from daxy.reproduction.ledger import Ledger
    from daxy.reproduction.sweep import Sweep as Asked
    from daxy.runs.programs import Program

SETTINGS = ("cell", "layers", "hidden", "attention", "dropout")


@dataclass(frozen=True, kw_only=True)
class Sweep(Measures):
    """Train the missing runs of a table as a grid: networks of one shape train as one program.

    The plan comes first, with an estimate of the time. Runs in the results and finished runs are
    skipped, and interrupted ones resume. The runs of a program are written to the results as soon
    as it is finished.

    Example:
        daxy sweep lake2018/grid --cell lstm --layers 2 --hidden 200 --seeds 1
    """

    aliases = MappingProxyType({"--cells": "--cell"})

    plan: tyro.conf.Positional[Annotated[str, tyro.conf.arg(metavar="PAPER/TABLE")]]
    """The table; `daxy papers PAPER` lists them."""
    cell: tuple[Literal["srn", "gru", "lstm"], ...] = ()
    """Only networks with these recurrent units; `--cells` is the same flag."""
    layers: tuple[int, ...] = ()
    """Only networks with this number of layers."""
    hidden: tuple[int, ...] = ()
    """Only networks with this hidden size."""
    attention: Literal["with", "without", "both"] = "both"
    """Only networks with attention, or without."""
    dropout: tuple[float, ...] = ()
    """Only networks with this dropout."""
    executor: Literal["local", "ray"] = "local"
    """Run the programs here one by one, or as tasks of a Ray cluster (extra `ray`)."""
    address: str | None = None
    """Address of a Ray cluster; a local one is started unless given."""
    cpus: int = 1
    """Cores per task of the cluster."""
    gpus: float = 0
    """GPUs per task of the cluster."""
    storage: str | None = None
    """Storage for run folders of machines that do not share a disk: any fsspec URL, such as
    s3://bucket/runs."""
    max_group_size: int | None = None
    """Maximum networks in a program; as memory allows unless given."""
    dry_run: Switch = False
    """Show the plan with an estimate of the time, without training."""
    estimate: bool = True
    """Estimate the time from training a few programs for a moment; not on a cluster."""

    def run(self) -> Result:
        """Return the plan, or the table once the plan is carried out."""
        from daxy import papers
        from daxy.reproduction.ledger import Ledger

        self.check_seeds()
        size = self.max_group_size
        require(size is None or size > 0, f"--max-group-size must be positive, not {size}")
        cluster = self._cluster()
        table = papers.table(self.plan)
        paper = papers.get(table.paper)
        return self._serve(paper, table, self._cells(table), Ledger(self.results), cluster)

    def _cells(self, table: Table) -> list[Cell]:
        from daxy.reproduction.sweep import select

        given = {name: getattr(self, name) for name in SETTINGS}
        attention = {"with": (True,), "without": (False,), "both": ()}
        given["attention"] = attention[self.attention]
        wanted = {name: values for name, values in given.items() if values}
        cells = select(table.select(self.row, self.column), wanted)
        require(bool(cells), f"{table.path}: no network fits these flags, or none is trained here")
        return cells

    def _serve(
        self, paper: Paper, table: Table, cells: list[Cell], ledger: Ledger, cluster: dict[str, Any]
    ) -> Result:
        from daxy.reproduction.sweep import Sweep as Asked
        from daxy.runs import executors
        from daxy.runs.programs import Program
        from daxy.runs.progress import Display

        steps = self.planned(paper, cells, ledger)
        asked = Asked(table, steps, self.store, self.max_group_size)
        if self.restart or self.dry_run:
            # Nothing is deleted for a request that is refused.
            executors.get(self.executor).check(**cluster)
        if self.restart and not self.dry_run:
            ledger.check(table)
            self._clear(asked)
        seconds = self._estimated(asked) if self.estimate and self.executor == "local" else {}
        plan = _Plan(asked, seconds)
        if self.dry_run:
            return Result(data=plan.data, text=plan.text)
        from daxy.core.console import write

        write(plan.text, sys.stderr)
        executor = executors.get(self.executor).run
        planned = asked.programs
        finished = executor(planned, asked.store, Display(), **cluster) if planned else ()
        began, ended = time.monotonic(), list[Program]()
        for program in asked.carried_out(finished, ledger):
            ended.append(program)
            say(plan.progress(ended, time.monotonic() - began))
        return compared(paper, table, cells, ledger, **plan.data)

    def _clear(self, asked: Asked) -> None:
        """Delete what there is of the runs to be trained, here and at the storage, or nothing."""
        from daxy.runs.storage import Storage

        kept = None if self.storage is None else Storage.at(self.storage)
        runs = asked.missing
        names = [run.config.name for run in runs]
        if kept is not None:
            kept.check_left(names)
        asked.store.clear(runs)
        if kept is not None:
            kept.delete(names)

    def _cluster(self) -> dict[str, Any]:
        """Return what a cluster has to know, which means nothing on one machine."""
        names = ("address", "cpus", "gpus", "storage")
        given = {name: getattr(self, name) for name in names}
        if self.executor == "ray":
            return given
        changed = [name for name in names if given[name] != getattr(type(self), name)]
        require(not changed, f"--{changed and changed[0]} needs --executor ray")
        return {}

    def _estimated(self, asked: Asked) -> dict[int, float]:
        from daxy.runs.programs import CALIBRATED, estimates

        if asked.programs:
            tried = min(CALIBRATED, len(asked.programs))
            say(f"estimating the time from {tried} of {len(asked.programs)} programs")
        return dict(estimates(asked.programs))


@dataclass(frozen=True, eq=False)
class _Plan:
    """What a sweep is going to do, for people and as JSON values."""

    asked: Asked
    seconds: dict[int, float]
    """How long each program takes, by its place; empty where that is not to be known."""

    @property
    def programs(self) -> Sequence[Program]:
        return self.asked.programs

    @property
    def data(self) -> dict[str, Any]:
        from daxy.reproduction.plan import counts

        steps = self.asked.steps
        there, finished, _ = counts(steps)
        return {
            "table": self.asked.table.path,
            "cells": [
                {"row": step.cell.row, "column": step.cell.column, "task": step.recipe.task}
                for step in steps
            ],
            "in_results": there,
            "finished": finished,
            "missing": len(self.asked.missing),
            "programs": [
                {
                    "shape": program.description,
                    "tasks": program.tasks,
                    "runs": [run.config.name for run in program.runs],
                    "samples": program.samples,
                    "seconds": self.seconds.get(place),
                }
                for place, program in enumerate(self.programs)
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
        for place, program in enumerate(self.programs):
            time = duration(self.seconds[place]) if self.seconds else "-"
            on = program.tasks[0] if len(program.tasks) == 1 else f"{len(program.tasks)} tasks"
            facts = str(len(program.runs)), f"{program.samples:,}", time
            columns.add_row(program.description, on, *facts)
        found = self.data
        counts = f"{found['in_results']} in results, {found['finished']} finished"
        left = f"{found['missing']} to train in {counted(len(self.programs), 'program')}"
        whole = f", about {duration(found['seconds'])}" if self.seconds else ""
        lines = f"{found['table']}: {counted(len(found['cells']), 'cell')}: {counts}, {left}{whole}"
        return Group(columns, "", lines) if self.programs else lines

    def progress(self, ended: Sequence[Program], elapsed: float) -> str:
        """Return what is done when these programs have ended, in whatever order."""
        from daxy.runs.progress import duration

        costs = {id(each): self.seconds.get(n, each.cost) for n, each in enumerate(self.programs)}
        folder, runs = self.asked.store.folder, sum(len(each.runs) for each in self.programs)
        done = sum(run.within(folder).has_ended for each in ended for run in each.runs)
        spent = sum(costs[id(each)] for each in ended)
        said = f"{len(ended)} of {len(self.programs)} programs, {done} of {runs} networks"
        said = f"{said}; {duration(elapsed)} so far"
        if not spent:  # those that had been trained before
            return said
        left = elapsed * (sum(costs.values()) - spent) / spent
        return f"{said}, about {duration(left)} left"


VERB = Sweep
