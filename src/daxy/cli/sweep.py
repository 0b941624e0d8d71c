"""Run a grid of networks, as many as can be in one program, on this machine or a cluster."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from daxy.cli._table import Measures, compared, say
from daxy.cli._verb import Result, Switch
from daxy.cli._words import counted
from daxy.core.errors import require

if TYPE_CHECKING:
    from daxy.experiments.ledger import Ledger
    from daxy.experiments.papers import Cell, Paper, Table
    from daxy.experiments.programs import Program
    from daxy.experiments.sweep import Sweep as Asked

SETTINGS = ("cell", "layers", "hidden", "attention", "dropout")


@dataclass(frozen=True, kw_only=True)
class Sweep(Measures):
    """Run what is missing of a table as a grid: networks of one shape train as one program.

    The plan is shown first, with an estimate from running a few of its programs for a moment. What
    is in the results or finished is skipped, what was interrupted goes on, and each program's runs
    are written to the results as soon as they are finished.

    Example:
        daxy sweep lake2018/grid --cell lstm --layers 2 --hidden 200 --seeds 1
    """

    aliases = MappingProxyType({"--cells": "--cell"})

    plan: tyro.conf.Positional[Annotated[str, tyro.conf.arg(metavar="PAPER/TABLE")]]
    """The table; `daxy papers PAPER` lists them."""
    cell: tuple[Literal["srn", "gru", "lstm"], ...] = ()
    """Only networks of these recurrent units; `--cells` is the same flag."""
    layers: tuple[int, ...] = ()
    """Only networks of so many layers."""
    hidden: tuple[int, ...] = ()
    """Only networks with layers of so many units."""
    attention: Literal["with", "without", "both"] = "both"
    """Only networks with attention, or without."""
    dropout: tuple[float, ...] = ()
    """Only networks with this dropout."""
    on: Literal["local", "ray"] = "local"
    """Where it runs: one program after another here, or as tasks of a Ray cluster (extra `ray`)."""
    address: str | None = None
    """Of an existing Ray cluster; this machine becomes one unless given."""
    cpus: int = 1
    """Cores of each task of the cluster."""
    gpus: float = 0
    """GPUs of each task of the cluster."""
    storage: str | None = None
    """Where tasks leave run folders if their machines do not share the disk with the runs: a URL
    that fsspec knows, such as s3://bucket/runs."""
    together: int | None = None
    """How many networks a program has at most; what memory allows unless given."""
    dry_run: Switch = False
    """Show the plan with its estimate, and run nothing more."""
    estimate: bool = True
    """Try a few programs out to say how long all of them take on this machine; not on a cluster."""

    def run(self) -> Result:
        """Return the plan, or the table once the plan is carried out."""
        from daxy.experiments import papers
        from daxy.experiments.ledger import Ledger

        self.check_seeds()
        fits = self.together is None or self.together > 0
        require(fits, f"--together must be positive, not {self.together}")
        cluster = self._cluster()
        table = papers.table(self.plan)
        paper = papers.get(table.paper)
        return self._serve(paper, table, self._cells(table), Ledger(self.results), cluster)

    def _cells(self, table: Table) -> list[Cell]:
        from daxy.experiments.sweep import select

        given = {name: getattr(self, name) for name in SETTINGS}
        attention = {"with": (True,), "without": (False,), "both": ()}
        given["attention"] = attention[self.attention]
        wanted = {name: values for name, values in given.items() if values}
        cells = select(table.select(self.row, self.column), wanted)
        require(bool(cells), f"{table.path}: no network is all of that, or none is run here")
        return cells

    def _serve(
        self, paper: Paper, table: Table, cells: list[Cell], ledger: Ledger, cluster: dict[str, Any]
    ) -> Result:
        from daxy.experiments import executors
        from daxy.experiments.programs import Program
        from daxy.experiments.progress import Display
        from daxy.experiments.sweep import Sweep as Asked

        steps = self.planned(paper, cells, ledger)
        asked = Asked(table, steps, self.workshop, self.together)
        if self.restart or self.dry_run:
            # Nothing is deleted for a request that is refused.
            executors.get(self.on).check(**cluster)
        if self.restart and not self.dry_run:
            ledger.check(table)
            self._clear(asked)
        seconds = self._estimated(asked) if self.estimate and self.on == "local" else {}
        plan = _Plan(asked, seconds)
        if self.dry_run:
            return Result(data=plan.data, text=plan.text)
        from daxy.cli._wide import write

        write(plan.text, sys.stderr)
        executor = executors.get(self.on).run
        planned = asked.programs
        finished = executor(planned, asked.workshop, Display(), **cluster) if planned else ()
        began, ended = time.monotonic(), list[Program]()
        for program in asked.carried_out(finished, ledger):
            ended.append(program)
            say(plan.progress(ended, time.monotonic() - began))
        return compared(paper, table, cells, ledger, **plan.data)

    def _clear(self, asked: Asked) -> None:
        """Delete what there is of the runs to be trained, here and at the storage, or nothing."""
        from daxy.experiments.storage import Storage

        kept = None if self.storage is None else Storage.at(self.storage)
        runs = asked.missing
        names = [run.config.name for run in runs]
        if kept is not None:
            kept.check_left(names)
        asked.workshop.clear(runs)
        if kept is not None:
            kept.delete(names)

    def _cluster(self) -> dict[str, Any]:
        """Return what a cluster has to know, which means nothing on one machine."""
        names = ("address", "cpus", "gpus", "storage")
        given = {name: getattr(self, name) for name in names}
        if self.on == "ray":
            return given
        changed = [name for name in names if given[name] != getattr(type(self), name)]
        require(not changed, f"--{changed and changed[0]} goes with --on ray")
        return {}

    def _estimated(self, asked: Asked) -> dict[int, float]:
        from daxy.experiments.programs import CALIBRATED, estimates

        if asked.programs:
            tried = min(CALIBRATED, len(asked.programs))
            say(f"trying {tried} of {len(asked.programs)} programs out to see how long they take")
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
        from daxy.experiments.reproduction import counts

        steps = self.asked.steps
        there, finished, _ = counts(steps)
        return {
            "plan": self.asked.table.path,
            "table": self.asked.table.path,
            "figures": len(steps),
            "cells": [
                {"row": step.cell.row, "column": step.cell.column, "task": step.recipe.task}
                for step in steps
            ],
            "in_results": there,
            "finished": finished,
            "missing": len(self.asked.missing),
            "programs": [
                {
                    "shape": program.shape,
                    "tasks": program.tasks,
                    "runs": [run.config.name for run in program.runs],
                    "trials": program.trials,
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

        from daxy.experiments.progress import duration

        columns = Lines(box=None, pad_edge=False)
        for name in ("program", "on", "networks", "trials", "estimate"):
            columns.add_column(name, justify="left" if name in ("program", "on") else "right")
        for place, program in enumerate(self.programs):
            time = duration(self.seconds[place]) if self.seconds else "-"
            on = program.tasks[0] if len(program.tasks) == 1 else f"{len(program.tasks)} tasks"
            columns.add_row(program.shape, on, str(len(program.runs)), f"{program.trials:,}", time)
        found = self.data
        counts = f"{found['in_results']} in results, {found['finished']} finished"
        left = f"{found['missing']} to train in {counted(len(self.programs), 'program')}"
        whole = f", about {duration(found['seconds'])}" if self.seconds else ""
        lines = f"{found['plan']}: {counted(found['figures'], 'cell')}: {counts}, {left}{whole}"
        return Group(columns, "", lines) if self.programs else lines

    def progress(self, ended: Sequence[Program], elapsed: float) -> str:
        """Return what is done when these programs have ended, in whatever order."""
        from daxy.experiments.progress import duration

        costs = {id(each): self.seconds.get(n, each.work) for n, each in enumerate(self.programs)}
        folder, runs = self.asked.workshop.folder, sum(len(each.runs) for each in self.programs)
        done = sum(run.within(folder).has_ended for each in ended for run in each.runs)
        spent = sum(costs[id(each)] for each in ended)
        said = f"{len(ended)} of {len(self.programs)} programs, {done} of {runs} networks"
        said = f"{said}; {duration(elapsed)} so far"
        if not spent:  # those that had been trained before
            return said
        left = elapsed * (sum(costs.values()) - spent) / spent
        return f"{said}, about {duration(left)} left"


VERB = Sweep
