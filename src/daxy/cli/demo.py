"""The finding of Lake & Baroni (2018) in about two minutes, with nothing to download."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.cli._picture import save
from daxy.cli._result import Result
from daxy.cli._verb import Switch, Verb

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from daxy.report.primitive_demo import Answer, CommandResults

SPLITS = {"simple": "a random split", "addprim_jump": "new combinations of jump"}
"""Splits, with descriptions of their test sets."""
SMALL = {"hidden": 64, "embedding": 32}
BRIEF: Mapping[str, Any] = {
    "optimizer": "adam",
    "learning_rate": 0.004,
    "lr_decay": 0.1,
    "lr_decay_steps": 2_000,
    "batch_size": 64,
    "samples": 64 * 2_000,
    "eval_every": 250,
    "dropout": 0.1,
}
"""Training configuration for two minutes; those of the papers take hours."""
SHOWN = 3
"""Number of wrong answers to show."""


@dataclass(frozen=True, kw_only=True)
class Demo(Verb):
    """Train one small network on a random split and on new combinations, and compare.

    It takes about two minutes on two cores. The network is smaller than the published one, and
    trains for less time: `daxy reproduce` runs the papers' own protocols. A demo that was
    interrupted resumes, and one that is finished is shown again.

    Example:
        daxy demo
    """

    nacs: Switch = False
    """Train on NACS as well: actions in, a command out. It takes as long again."""
    runs: Annotated[Path, tyro.conf.arg(metavar="DIR")] = Path("runs")
    """Folder of the run folders and of the picture."""
    restart: Switch = False
    """Train again even if the runs are there."""

    def run(self) -> Result:
        """Return measured and published scores, and wrong answers."""
        from daxy.core.imports import need
        from daxy.report import primitive_demo

        need("matplotlib")
        rows: list[dict[str, Any]] = []
        answers: dict[str, list[Answer]] = {}
        pictures: list[str] = []
        for benchmark in ["scan", *["nacs"] * self.nacs]:
            tested = self._tested(benchmark)
            rows += _rows(tested)
            *_, hard = tested
            answers[hard] = [*tested[hard].answers_to_known(), *tested[hard].wrong_answers(SHOWN)]
            picture = self.runs / f"demo{'' if benchmark == 'scan' else f'-{benchmark}'}.png"
            labels = {f"{task} ({SPLITS[_split(task)]})": run for task, run in tested.items()}
            title = f"Accuracy on {benchmark.upper()} by construction"
            save(primitive_demo.draw(labels, title), picture)
            pictures.append(str(picture))
        data = {
            "rows": rows,
            "answers": {task: [asdict(each) for each in some] for task, some in answers.items()},
            "pictures": pictures,
        }
        return Result(data=data, text=_answer(rows, answers, pictures))

    def _tested(self, benchmark: str) -> dict[str, CommandResults]:
        """Train a network on each split of a benchmark, as one program, and return test results."""
        from daxy import tasks
        from daxy.learners.neural import Neural
        from daxy.report.primitive_demo import CommandResults
        from daxy.runs.progress import Display
        from daxy.runs.run import Run
        from daxy.runs.store import RunStore
        from daxy.training.config import TrainingConfig

        small = Neural.named("seq2seq", SMALL, TrainingConfig().with_settings(**BRIEF))
        names = [f"{benchmark}/{split}" for split in SPLITS]
        runs = [
            Run(task=task, learner=small, data=tasks.data(task).for_training(), seed=0)
            for task in names
        ]
        store = RunStore(self.runs)
        if self.restart:
            store.clear(runs)
        store.complete(runs, Display())
        return {run.task: CommandResults.of(run.within(self.runs)) for run in runs}


def _split(task: str) -> str:
    return task.partition("/")[2]


def _rows(tested: dict[str, CommandResults]) -> list[dict[str, Any]]:
    from daxy.report.primitive_demo import COMBINATION

    rows = [_row(task, run) for task, run in tested.items()]
    *_, (task, run) = tested.items()
    mask = run.with_part(COMBINATION)
    part = {
        "task": task,
        "part": COMBINATION,
        "examples": int(mask.sum()),
        "measured": run.results.accuracy(mask).mean,
    }
    return [*rows, part]


def _row(task: str, run: CommandResults) -> dict[str, Any]:
    from daxy.papers import table

    benchmark, _, split = task.partition("/")
    number = {"scan": "table4", "nacs": "table5"}[benchmark]
    column = {"simple": "simple", "addprim_jump": "jump"}[split]
    cell = table(f"bastings2018/{number}").cell("GRU +Attn", column)
    return {
        "task": task,
        "examples": len(run.commands),
        "measured": run.accuracy().mean,
        "published": cell.value,
        "published_spread": cell.spread,
        "published_in": f"bastings2018/{number}",
        "folder": str(run.folder.path),
    }


def _answer(
    rows: Sequence[dict[str, Any]], answers: dict[str, list[Answer]], pictures: Sequence[str]
) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    scores = Table("test set", "examples", "this demo", "published", box=None, pad_edge=False)
    for column in scores.columns[1:]:
        column.justify = "right"
    for row in rows:
        if "part" in row:
            name, published = f"  of these: {row['part']}", ""
        else:
            name = f"{row['task']}: {SPLITS[_split(row['task'])]}"
            published = f"{row['published']} ±{row['published_spread']}"
        scores.add_row(name, f"{row['examples']:,}", f"{row['measured']:.1f}", published)
    return Group(
        "",
        "Exact match in per cent; GRU with attention:",
        "",
        scores,
        "",
        *(part for task, some in answers.items() for part in (_answers(task, some), "")),
        f"Accuracy by construction: {', '.join(pictures)}",
        "",
        f"The network has {SMALL['hidden']} hidden units and sees {BRIEF['samples']:,} examples;"
        " the published one has 256 and trains for 50 epochs (Bastings et al. 2018).",
        "",
        "What to try next:",
        '  daxy interpret scan "jump around left twice"',
        "  daxy demo --nacs",
        "  daxy train scan/addprim_turn_left --hidden 64 --epochs 5",
        "  daxy reproduce bastings2018/table4 --row GRU --column simple",
    )


def _answers(task: str, answers: Sequence[Answer]) -> Table:
    """Return a table of answers: to two training commands, then wrong ones."""
    from rich.table import Table

    shown = Table(f"source, after training on {task}", "prediction", "", "target", box=None)
    shown.pad_edge = False
    for answer in answers:
        prediction = " ".join(answer.prediction) or "(nothing)"
        target = "" if answer.is_right else " ".join(answer.target)
        mark = "right" if answer.is_right else "wrong"
        shown.add_row(" ".join(answer.source), prediction, mark, target)
    return shown


VERB = Demo
