"""Train the missing runs of a published table, and compare measured with published scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.cli._result import Result
from daxy.cli._table import Measures, compared, say
from daxy.cli._verb import Switch
from daxy.core.display import counted
from daxy.core.errors import require

if TYPE_CHECKING:
    from daxy.papers import Paper, Table, TableCell
    from daxy.reproduction.ledger import Ledger
    from daxy.reproduction.plan import PlanStep


@dataclass(frozen=True, kw_only=True)
class Reproduce(Measures):
    """Train the missing runs of a published table, and compare measured with published scores.

    Runs in the results or in run folders are reused; the others are trained. Each cell is written
    to the results as soon as it is finished. The same command resumes an interrupted one.

    Example:
        daxy reproduce bastings2018/table4 --row gru+attn --column jump
    """

    table: tyro.conf.Positional[Annotated[str, tyro.conf.arg(metavar="PAPER/TABLE")]]
    """The table; `daxy papers PAPER` lists them."""
    dry_run: Switch = False
    """Show the plan with an estimate of the time, without training."""
    estimate: bool = True
    """With --dry-run, estimate the time from training a few programs for a moment."""

    def run(self) -> Result:
        """Return the plan, or the table when its runs are finished."""
        from daxy import papers
        from daxy.reproduction.ledger import Ledger

        self.check_seeds()
        table = papers.table(self.table)
        paper = papers.get(table.paper)
        cells = table.select(self.row, self.column)
        quoted = f"{table.path} quotes these scores from elsewhere: there is nothing to train"
        require(any(cell.recipe for cell in cells), quoted)
        return self._serve(paper, table, cells, Ledger(self.results))

    def _serve(self, paper: Paper, table: Table, cells: list[TableCell], ledger: Ledger) -> Result:
        steps = self.planned(paper, cells, ledger)
        if self.dry_run:
            return _plan(table, steps, self._seconds(steps))
        say(_sum(table, steps))
        self._train(paper, table, steps, ledger)
        plan = [_step(step) for step in steps]
        return compared(paper, table, cells, ledger, table=table.path, plan=plan)

    def _seconds(self, steps: Sequence[PlanStep]) -> float | None:
        """Return an estimate of the training time in seconds; None without one."""
        from daxy.reproduction.plan import missing_programs
        from daxy.runs.programs import CALIBRATED, estimates

        programs = missing_programs(steps) if self.estimate else ()
        if not programs:
            return None
        tried = min(CALIBRATED, len(programs))
        say(f"estimating the time from {tried} of {len(programs)} programs")
        return sum(seconds for _, seconds in estimates(programs))

    def _train(self, paper: Paper, table: Table, steps: Sequence[PlanStep], ledger: Ledger) -> None:
        from daxy.report.tables import compare
        from daxy.reproduction import plan as reproduction
        from daxy.runs.progress import Display
        from daxy.training.interrupt import Interrupted

        trained = reproduction.execute(steps, table, ledger, Display(), restart=self.restart)
        is_recorded = False
        try:
            for step in trained:
                is_recorded = True
                (comparison,) = compare([step.cell], ledger.runs(paper))
                row, column, published, measured, *_, verdict, _ = comparison.texts
                seeds = counted(len(comparison.scores), "seed")
                say(f"{row}, {column}: {measured} ({seeds}), {verdict}: {published}")
        except Interrupted as stop:
            kept = [f"finished cells are in {ledger.path(table)}"] if is_recorded else []
            again = ["leave out --restart to resume"] if self.restart else []
            raise Interrupted("; ".join([str(stop), *kept, *again])) from stop


def _plan(table: Table, steps: Sequence[PlanStep], seconds: float | None) -> Result:
    from rich.console import Group
    from rich.table import Table as Lines

    from daxy.runs.progress import duration

    columns = Lines(
        "row", "column", "task", "in results", "finished", "to train", box=None, pad_edge=False
    )
    for step in steps:
        seeds = (step.in_ledger, step.finished, step.missing)
        counts = [" ".join(map(str, each)) or "-" for each in seeds]
        columns.add_row(step.cell.row, step.cell.column, step.recipe.task, *counts)
    data = {"table": table.path, "plan": [_step(step) for step in steps], "seconds": seconds}
    time = "" if seconds is None else f", about {duration(seconds)} on this machine"
    return Result(data=data, text=Group(columns, "", _sum(table, steps) + time))


def _step(step: PlanStep) -> dict[str, Any]:
    return {
        "row": step.cell.row,
        "column": step.cell.column,
        "task": step.recipe.task,
        "in_results": step.in_ledger,
        "finished": step.finished,
        "missing": step.missing,
    }


def _sum(table: Table, steps: Sequence[PlanStep]) -> str:
    from daxy.reproduction.plan import counts

    in_results, finished, missing = counts(steps)
    runs = f"{in_results} in results, {finished} finished, {missing} to train"
    return f"{table.path}: {counted(len(steps), 'cell')}; runs: {runs}"


VERB = Reproduce
