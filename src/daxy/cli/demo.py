"""Train on SCAN and on NACS in about two minutes, with nothing to download."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.cli._picture import save
from daxy.cli._verb import Result, Switch, Verb

if TYPE_CHECKING:
    from rich.console import RenderableType

    from daxy.experiments.run_folder import RunFolder

TASKS = {"SCAN": "scan/simple", "NACS": "nacs/simple"}
SMALL = {"hidden": 64, "embedding": 32}
BRIEF = {
    "optimizer": "adam",
    "learning_rate": 0.004,
    "decay": 0.8,
    "batch_size": 64,
    "epochs": 8,
    "dropout": 0.1,
}
"""A protocol that comes far in little time; the papers' own takes hours on such a machine."""


@dataclass(frozen=True, kw_only=True)
class Demo(Verb):
    """Train GRU + attention on SCAN and on its mirror NACS, and score it, in about two minutes.

    The network is smaller than the published one and trained for less long: `daxy reproduce` runs
    the papers' own protocols. Running the demo again finds its runs.

    Example:
        daxy demo
    """

    runs: Annotated[Path, tyro.conf.arg(metavar="DIR")] = Path("runs")
    """Where the run folders and the picture are made."""
    restart: Switch = False
    """Train again even if the runs are there."""

    def run(self) -> Result:
        """Return the scores beside the published ones."""
        from daxy import tasks
        from daxy.cli._progress import Display
        from daxy.experiments.runs import Experiment
        from daxy.learners.neural import learner
        from daxy.report import pictures
        from daxy.training.protocol import Protocol

        recipe: dict[str, Any] = BRIEF
        small = learner("seq2seq", dict(SMALL), Protocol(**recipe))
        runs: dict[str, RunFolder] = {}
        for name, task in TASKS.items():
            experiment = Experiment(
                task=task, learner=small, data=tasks.data(task), folder=self.runs
            )
            (runs[name],) = experiment.run([0], watcher=Display(), restart=self.restart)
        picture = self.runs / "demo.png"
        save(pictures.learning(runs), picture)
        rows = [_row(name, run) for name, run in runs.items()]
        data = {"rows": rows, "picture": str(picture)}
        return Result(data=data, text=_answer(rows, picture))


def _row(name: str, run: RunFolder) -> dict[str, Any]:
    from daxy.experiments.papers import table
    from daxy.experiments.runs import primary

    number = {"SCAN": "table4", "NACS": "table5"}[name]
    cell = table(f"bastings2018/{number}").cell("GRU +Attn", "simple")
    return {
        "task": TASKS[name],
        "measured": 100 * primary(run.scores()),
        "published": cell.value,
        "published_spread": cell.spread,
        "published_in": f"bastings2018/{number}",
        "folder": str(run.path),
    }


def _answer(rows: list[dict[str, Any]], picture: Path) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    table = Table("task", "this demo", "published", box=None, pad_edge=False)
    table.add_column("run folder", overflow="fold")
    for row in rows:
        published = f"{row['published']} ±{row['published_spread']}"
        table.add_row(row["task"], f"{row['measured']:.1f}", published, row["folder"])
    return Group(
        "",
        "Test accuracy in per cent, GRU + attention:",
        "",
        table,
        "",
        f"The demo's network has {SMALL['hidden']} hidden units and sees the training set"
        f" {BRIEF['epochs']} times; the published one has 256 and 50 (Bastings et al. 2018).",
        f"Learning curves: {picture}",
        "",
        "What to try next:",
        '  daxy interpret scan "jump around left twice"',
        "  daxy show scan/addprim_jump",
        "  daxy train scan/addprim_jump --hidden 64 --epochs 5",
        "  daxy reproduce bastings2018/table4 --row GRU --column simple",
    )


VERB = Demo
