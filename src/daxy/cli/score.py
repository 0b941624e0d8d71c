"""Score anybody's predictions for a task's test set, or what a finished run says to it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from daxy.cli._data import OfTask, TaskName, with_data
from daxy.cli._out import check_free
from daxy.cli._picture import Picture, check, save
from daxy.cli._run import data_of, finished
from daxy.cli._table import say
from daxy.cli._verb import Result, Switch
from daxy.core.errors import WrongRequest, require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from daxy.api import Predictions, Scored
    from daxy.core.examples import Sequences
    from daxy.core.split import Provenance, Split


@dataclass(frozen=True, kw_only=True)
class Score(OfTask):
    """Score predictions for a task's test set, each example exactly once.

    A file of them has JSON lines, or is Parquet by its name: objects with `key` or `source`, and
    `prediction`, each a string of tokens separated by spaces or a list of them. For gSCAN commas
    separate them, and a row needs a `key`. Or the network of a finished run is asked: about the
    run's own test set, or, by the flags of the data, about another one that has no word that it
    does not know.

    Example:
        daxy score nacs/length --predictions predictions.jsonl
        daxy score transduction/copy --run runs/RUN --test-longest 256 --limit 300
        daxy score scan/simple --run runs/scan-length.seq2seq.seed0.DIGEST
    """

    task: TaskName
    """The task; `daxy tasks` lists them."""
    predictions: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """The predictions, JSON lines or Parquet."""
    run_folder: Annotated[Path | None, tyro.conf.arg(name="run", metavar="RUN")] = None
    """The folder of a finished run: its network makes the predictions."""
    limit: int | None = None
    """The most tokens of an output of that network; as its protocol says unless given."""
    draw: Picture = None
    """Draw accuracy by length, as .png, .svg or .pdf."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write each example with its prediction and scores, as .parquet or .jsonl."""
    force: Switch = False
    """Replace those files if they exist."""

    def run(self) -> Result:
        """Return the scores, by target length too, and what papers print for this test."""
        from rich.console import Group

        from daxy import metrics, tasks
        from daxy.api import score
        from daxy.cli._published import as_table, as_values
        from daxy.experiments import papers
        from daxy.formats import predictions

        self._check_files()
        split, given = self._given()
        scored = score(self.task, given, split=split)
        if self.predictions is not None and (note := _written_end(scored)):
            say(f"note: {note}")
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
        shown = [_table(scored, statistics, split.provenance), *as_table(published)]
        if self.draw is not None:
            _draw(scored, self.draw)
            data["drawn"] = str(self.draw)
            shown += ["", str(self.draw)]
        return Result(data=data, text=Group(*shown))

    def _given(self) -> tuple[Split, Predictions]:
        """Return the data, and the predictions for its test set: of a file, or of a network."""
        if self.run_folder is not None and self.predictions is None:
            return self._asked(self.run_folder)
        if self.predictions is None or self.run_folder is not None:
            raise WrongRequest("expected either --predictions FILE or --run RUN")
        require(self.limit is None, "--limit is for --run: predictions are as they are")
        return self.data.load(self.task), self.predictions

    def _asked(self, run: Path) -> tuple[Split, Sequences]:
        """Return the data that a run's network is asked about, and what it says to the test set."""
        from daxy.experiments.runs import limited
        from daxy.experiments.trained import load
        from daxy.worlds.examples import GroundedExamples

        folder = finished(run)
        split = data_of(folder, self.task, self.data).load(self.task)
        network, test = load(run), split.test
        require(self.limit is None or self.limit > 0, f"limit must be positive, not {self.limit}")
        if note := limited(self.limit or network.limit, test):
            say(f"note: {note}")
        worlds = test.worlds if isinstance(test, GroundedExamples) else None
        return split, network.predict(test.source, worlds, limit=self.limit)

    def _check_files(self) -> None:
        """Refuse files that are there, or whose names say no format, before the work is done."""
        check(self.draw, force=self.force)
        out = self.out
        if out is None:
            return
        named = f"{out}: expected a name that ends in .parquet or .jsonl"
        require(out.suffix.lower() in (".parquet", ".jsonl"), named)
        check_free(out, force=self.force)
        given = self.predictions
        same = given is not None and out.exists() and given.exists() and out.samefile(given)
        require(not same, f"{out} is the predictions file itself; expected another --out")


def _written_end(scored: Scored) -> str:
    """Return what to say if all predictions end in one token that no target has; else nothing."""
    import numpy as np

    said, meant = scored.predictions, scored.examples.target
    if not said.lengths.all():
        return ""
    last = np.unique(said.codes[said.offsets[1:] - 1])
    known = {meant.symbols[code] for code in np.unique(meant.codes)}
    if len(last) != 1 or (token := said.symbols[last[0]]) in known:
        return ""
    return (
        f"every prediction ends in {token!r}, which is in no target; a token that only marks the"
        " end does not belong into predictions"
    )


def _draw(scored: Scored, path: Path) -> None:
    """Draw accuracy by length. This alone imports what analyses need, networks included."""
    from daxy.report.analyses._analysis import Judged
    from daxy.report.analyses.by_length import by_length

    save(by_length(Judged.of(scored)).draw(), path)


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
