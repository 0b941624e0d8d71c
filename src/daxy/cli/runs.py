"""List the runs of a folder."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from daxy.cli._result import Result
from daxy.cli._verb import Switch, Verb
from daxy.core.display import counted
from daxy.core.errors import require

if TYPE_CHECKING:
    from rich.console import RenderableType

    from daxy.report.run_list import ListedRun

Column = Literal["path", "task", "learner", "seed", "status", "score", "validation", "started"]


@dataclass(frozen=True, kw_only=True)
class Runs(Verb):
    """List the runs of a folder: task, learner, seed, status and score.

    Example:
        daxy runs
        daxy runs runs --task "scan/*" --status finished --sort score --descending
        daxy runs --csv > runs.csv
    """

    folder: tyro.conf.Positional[Annotated[Path, tyro.conf.arg(metavar="FOLDER")]] = Path("runs")
    """Folder of the run folders."""
    task: Annotated[str, tyro.conf.arg(metavar="PATTERN")] = "*"
    """List runs on tasks whose name fits, as `scan/*`."""
    learner: Annotated[str, tyro.conf.arg(metavar="PATTERN")] = "*"
    """List runs of learners whose label fits, as `seq2seq*`."""
    status: Literal["all", "finished", "diverged", "interrupted", "damaged"] = "all"
    """List runs with this status. `diverged` runs are finished; `damaged` ones cannot be read."""
    sort: Column | None = None
    """Column to sort by; by default task, learner and seed."""
    descending: Switch = False
    """Sort from the highest value to the lowest."""
    csv: Switch = False
    """Print comma-separated values with all columns."""

    def run(self) -> Result:
        """Return the list."""
        from daxy.report.run_list import run_list, sorted_by

        require(not (self.csv and self.json), "--csv and --json are two formats; leave out one")
        needs = "--descending needs --sort COLUMN"
        require(self.sort is not None or not self.descending, needs)
        every = run_list(self.folder)
        chosen = [run for run in every if self._fits(run)]
        if self.sort is not None:
            chosen = sorted_by(chosen, self.sort, descending=self.descending)
        data = {"folder": str(self.folder), "runs": [asdict(run) for run in chosen]}
        return Result(data=data, text=_csv(chosen) if self.csv else _table(chosen, len(every)))

    def _fits(self, run: ListedRun) -> bool:
        has_status = self.status in ("all", run.status)
        patterns = ((run.task, self.task), (run.learner, self.learner))
        return has_status and all(fnmatchcase(*pair) for pair in patterns)


def _csv(runs: Sequence[ListedRun]) -> str:
    from daxy.report.run_list import ListedRun

    out = io.StringIO()
    writer = csv.DictWriter(out, [field.name for field in fields(ListedRun)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(run) for run in runs)
    return out.getvalue().removesuffix("\n")


def _table(runs: Sequence[ListedRun], count: int) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    from daxy import metrics

    table = Table("task", "learner", box=None, pad_edge=False)
    for name in ("seed", "score", "validation", "epochs"):
        table.add_column(name, justify="right")
    for name in ("status", "started", "run folder"):
        table.add_column(name)
    for run in runs:
        score = "" if run.score is None else metrics.text(run.metric, run.score)
        validation = "" if run.validation is None else f"{run.validation:.1%}"
        numbers = (str(run.seed), score, validation, str(run.epochs or ""))
        cells: tuple[Any, ...] = (run.task, run.learner, *numbers)
        name = Path(run.path).name if not run.problem else f"{Path(run.path).name}: {run.problem}"
        table.add_row(*cells, run.status, run.started[:16].replace("T", " "), name)
    return Group(table, "", f"{len(runs):,} of {counted(count, 'run')}")


VERB = Runs
