"""A grid of settings of one learner, as a variant of `daxy sweep`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.cli._executed import Executed
from daxy.cli._picture import Picture, check, save
from daxy.cli._result import Result
from daxy.cli._table import say
from daxy.cli._verb import Switch
from daxy.cli.train import Train, TrainNetwork
from daxy.core.display import counted
from daxy.core.errors import require

if TYPE_CHECKING:
    from rich.console import RenderableType

    from daxy.core.summary import Summary
    from daxy.runs.grid import Grid
    from daxy.runs.programs import Program


@dataclass(frozen=True, kw_only=True)
class GridSweep(Train, Executed):
    """Train one learner with all combinations of some settings."""

    grid: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE,...")] = ()
    """Settings of the learner with their values: all combinations are trained."""
    dry_run: Switch = False
    """Show the programs without training."""
    draw: Picture = None
    """Draw the scores, as .png, .svg or .pdf; by default `sweep.TASK.LEARNER.SETTINGS.png`
    beside the runs, if Matplotlib is installed."""
    force: Switch = False
    """Replace that file if it exists."""

    @classmethod
    def for_networks(cls) -> type[Train]:
        """Return the verb with the flags that all networks have."""
        return NetworkGridSweep

    def run(self) -> Result:
        """Return the scores of each combination."""
        from daxy.runs.grid import Grid, parse
        from daxy.runs.run import seed_range

        cluster = self.cluster()
        needs = "a sweep of a task needs --grid NAME=VALUE,VALUE, as --grid hidden=32,64"
        require(bool(self.grid), needs)
        one = "--learning-rates has no meaning in a grid; expected --grid learning_rate=..."
        require(not getattr(self, "learning_rates", ()), one)
        check(self.draw, force=self.force)
        seeds = seed_range(self.seeds, self.first_seed)
        grid = Grid(self.experiment(), parse(self.grid), seeds)
        for note in self.notes():
            say(f"note: {note}")
        for runs in grid.runs.values():
            runs[0].check()
        return self._trained(grid, cluster)

    def _trained(self, grid: Grid, cluster: dict[str, Any]) -> Result:
        from daxy.runs import executors
        from daxy.runs.programs import programs
        from daxy.runs.progress import Display

        store, runs = grid.experiment.store, grid.every_run
        if self.restart or self.dry_run:
            executors.get(self.executor).check(**cluster)  # a refused request deletes nothing
        if self.restart and not self.dry_run:
            store.clear(runs)
        missing = store.missing(runs)
        planned = programs(runs, missing, store, self.max_group_size)
        done = f"{len(runs) - len(missing)} of {counted(len(runs), 'run')} finished"
        say(f"{done}, {len(missing)} to train in {counted(len(planned), 'program')}")
        if self.dry_run:
            return Result(data=_plan(grid, planned), text="\n".join(map(_line, planned)) or done)
        store.track(runs)
        execute = executors.get(self.executor).run
        finished = execute(planned, store, Display(), **cluster) if planned else ()
        for number, _ in enumerate(finished, start=1):
            say(f"{number} of {len(planned)} programs")
        return self._answer(grid)

    def _answer(self, grid: Grid) -> Result:
        rows, metric = _rows(grid)
        data = {"task": self.task, "metric": metric, "grid": dict(grid.values), "points": rows}
        text: list[Any] = [_table(grid, rows, metric)]
        out = self._picture(grid, rows, metric)
        if out:
            data["out"] = out
            text += ["", f"{out}: {metric} by setting"]
        from rich.console import Group

        return Result(data=data, text=Group(*text))

    def _picture(self, grid: Grid, rows: list[dict[str, Any]], metric: str) -> str:
        """Draw the scores, and return the name of the file; empty without Matplotlib."""
        if self.draw is None and find_spec("matplotlib") is None:
            return ""
        from daxy import metrics
        from daxy.report import grid_plot

        name = ".".join((self.task.replace("/", "-"), self.learner, *grid.values))
        usual = self.runs / f"sweep.{name}.png"
        path = self.draw or usual
        scores = {
            tuple(row["settings"].values()): _summary(row["test"]) for row in rows if row["test"]
        }
        if not scores:
            return ""
        title, is_share = f"{self.task}, {self.learner}", metrics.is_share(metric)
        save(grid_plot.draw(title, grid.values, scores, metric, is_share=is_share), path)
        return str(path)


@dataclass(frozen=True, kw_only=True)
class NetworkGridSweep(GridSweep, TrainNetwork):
    """Train one network with all combinations of some settings."""


def _plan(grid: Grid, planned: Sequence[Program]) -> dict[str, Any]:
    return {
        "grid": dict(grid.values),
        "runs": [run.name for run in grid.every_run],
        "programs": [[run.name for run in program.runs] for program in planned],
    }


def _line(program: Program) -> str:
    return f"{counted(len(program.runs), 'run')}: {program.description}"


def _rows(grid: Grid) -> tuple[list[dict[str, Any]], str]:
    """Return the scores of each combination, and the metric."""
    rows, metric = list[dict[str, Any]](), ""
    for point in grid.points:
        folders = grid.finished(point)
        scores = [folder.scores() for folder in folders]
        metric = scores[0]["metric"] if scores else metric
        known = [it["validation"] for it in scores if it["validation"] is not None]
        rows.append(
            {
                "settings": dict(zip(grid.values, point, strict=True)),
                "test": [it["test"][it["metric"]] for it in scores],
                "validation": known,
                "runs": [str(folder.path) for folder in folders],
            }
        )
    return rows, metric


def _table(grid: Grid, rows: Sequence[dict[str, Any]], metric: str) -> RenderableType:
    from rich.table import Table

    from daxy import metrics

    table = Table(box=None, pad_edge=False)
    for name in (*grid.values, "runs", "validation", f"test {metric}", "each run"):
        table.add_column(name, justify="right")
    for row in rows:
        settings = [str(value) for value in row["settings"].values()]
        validation = _summary(row["validation"]).text() if row["validation"] else "-"
        test = "-"
        if row["test"]:
            summary = _summary(row["test"])
            mean = metrics.text(metric, summary.mean)
            test = summary.text() if metrics.is_share(metric) else mean
        values = " ".join(metrics.text(metric, value) for value in row["test"])
        table.add_row(*settings, str(len(row["test"])), validation, test, values)
    return table


def _summary(values: Sequence[float]) -> Summary:
    from daxy.core.summary import Summary

    return Summary(runs=tuple(values))
