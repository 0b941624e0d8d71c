"""Score anybody's predictions for a task's test set."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from daxy.cli._data import OfTask, TaskName, with_data
from daxy.cli._out import check_free
from daxy.cli._verb import Result, Switch
from daxy.core.errors import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from daxy.api import Scored
    from daxy.core.split import Provenance


@dataclass(frozen=True, kw_only=True)
class Score(OfTask):
    """Score predictions for a task's test set, each example exactly once.

    FILE has JSON lines, or is Parquet by its name: objects with `key` or `source`, and
    `prediction`, each a string of tokens separated by spaces or a list of them. For gSCAN commas
    separate them, and a row needs a `key`.

    Example:
        daxy score nacs/length --predictions predictions.jsonl
    """

    task: TaskName
    """The task; `daxy tasks` lists them."""
    predictions: Annotated[Path, tyro.conf.arg(metavar="FILE")]
    """The predictions, JSON lines or Parquet."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write each example with its prediction and scores, as .parquet or .jsonl."""
    force: Switch = False
    """Replace that file if it exists."""

    def run(self) -> Result:
        """Return the scores, by target length too, and what papers print for this test."""
        from rich.console import Group

        from daxy import metrics, tasks
        from daxy.api import score
        from daxy.cli._published import as_table, as_values
        from daxy.experiments import papers
        from daxy.formats import predictions

        self._check_out()
        split = self.data.load(self.task)
        scored = score(self.task, self.predictions, split=split)
        if self.out is not None:
            predictions.write(self.out, scored.examples, scored.predictions, scored.values)
        statistics = tasks.get(self.task).statistics(split)
        published = papers.on_test(self.task, split.provenance.options)
        data = {
            "task": self.task,
            "metric": scored.metric,
            "accuracy": scored.accuracy,
            "scores": dict(scored.totals),
            "signatures": {
                name: how for name in scored.totals if (how := metrics.get(name).signature)
            },
            "count": len(scored.examples),
            "by_target_length": {
                str(length): {"count": count, "score": mean}
                for length, (count, mean) in scored.by_length().items()
            },
            "tests": {name: dict(totals) for name, totals in scored.tests.items()},
            "statistics": statistics,
            "published": as_values(published),
            "provenance": asdict(split.provenance),
        }
        shown = _table(scored, statistics, split.provenance)
        return Result(data=data, text=Group(shown, *as_table(published)))

    def _check_out(self) -> None:
        """Refuse a file that is there, or whose name says no format, before the work is done."""
        out = self.out
        if out is None:
            return
        named = f"{out}: expected a name that ends in .parquet or .jsonl"
        require(out.suffix.lower() in (".parquet", ".jsonl"), named)
        check_free(out, force=self.force)
        same = out.exists() and self.predictions.exists() and out.samefile(self.predictions)
        require(not same, f"{out} is the predictions file itself; expected another --out")


def _table(scored: Scored, statistics: Mapping[str, float], about: Provenance) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    from daxy import metrics

    lines = [f"{scored.task}: {len(scored.examples):,} test examples ({about.source})"]
    for name, total in scored.totals.items():
        how = metrics.get(name).signature
        lines.append(f"{name} {total:.1%}{how and f' ({how})'}")
    lines += [f"{fact}: {value:.1%}" for fact, value in statistics.items()]
    tests = Table("test", "examples", *scored.totals, box=None, pad_edge=False)
    for name, totals in scored.tests.items():
        values = (f"{value:.1%}" for value in totals.values())
        tests.add_row(name, f"{about.sizes.tests[name]:,}", *values)
    table = Table("target length", "examples", scored.metric, box=None, pad_edge=False)
    for length, (count, mean) in scored.by_length().items():
        table.add_row(str(length), f"{count:,}", f"{mean:.1%}")
    return Group(*lines, *(["", tests] if scored.tests else []), "", table)


VERB = with_data(Score)
