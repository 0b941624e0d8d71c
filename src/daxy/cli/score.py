"""Score predictions for a task's test set, from a file or from the network of a run."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import tyro

from daxy.cli._data import SampleVerb, TaskName
from daxy.cli._out import check_free
from daxy.cli._picture import Picture, check, save
from daxy.cli._result import Result
from daxy.cli._run import data_of, finished
from daxy.cli._table import say
from daxy.cli._verb import Switch
from daxy.core.errors import DaxyWarning, WrongRequest, require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from daxy.core.examples import Sequences
    from daxy.core.split import Provenance, Split
    from daxy.papers import TableCell
    from daxy.scoring import AnyPredictions, Scored
    from daxy.tasks import DatasetOptions


CHANGES = 6
"""Maximum number of changes that the note on a normalisation lists."""


@dataclass(frozen=True, kw_only=True)
class Score(SampleVerb):
    """Score predictions for a task's test set, each example exactly once.

    A predictions file has JSON lines, one JSON array, or is Parquet by its name: objects with `key`
    or `source`, and `prediction`, each a string of tokens with spaces between, or a list. For gSCAN
    commas separate tokens, and a row needs a `key` or its world (`situation`). Plain lines are read
    in the order of another file (--order). With --run, the network of a finished run predicts: on
    the run's own test set, or on another one of known words that the flags of the data choose.

    A note on stderr lists tokens that no target of the task has. If nearly all predictions have
    such a token, they are not scored: --normalize reads common other spellings and lists changes.

    Example:
        daxy score nacs/length --predictions predictions.jsonl
        daxy score scan/length --predictions lines.txt --order tasks_test_length.txt
        daxy score scan/simple --predictions answers.jsonl --sample 200 --seed 0 --normalize
        daxy score gscan/compositional --predictions D.jsonl --test D
        daxy score transduction/copy --run runs/RUN --test-max-length 256 --max-decode-length 300
        daxy score scan/simple --run runs/scan-length.seq2seq.seed0.DIGEST
    """

    task: TaskName
    predictions: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """The predictions: JSON lines, a JSON array, Parquet, or plain lines with --order."""
    order: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """File of the test examples, official or from `daxy export`, with the order of predictions
    without keys."""
    test: str | None = None
    """Score one of a task's tests, by its name: D of gscan/compositional."""
    partial: Switch = False
    """Score only the examples that have a prediction, with a 95% interval."""
    normalize: Switch = False
    """Read predictions in common other spellings as the task's tokens: other case, no prefix,
    commas, padding and end symbols, a label such as `Actions:`."""
    allow_unknown_tokens: Switch = False
    """Score predictions even if nearly all have a token that no target of the task has."""
    run_folder: Annotated[Path | None, tyro.conf.arg(name="run", metavar="RUN")] = None
    """Folder of a finished run; its network makes the predictions."""
    max_decode_length: int | None = None
    """Maximum tokens of an output of that network; by default that of its protocol."""
    draw: Picture = None
    """Draw accuracy by length, as .png, .svg or .pdf."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write each example with its prediction and scores, as .parquet or .jsonl."""
    force: Switch = False
    """Replace those files if they exist."""

    @classmethod
    def fields_of(cls, options: type[DatasetOptions]) -> list[Any]:
        """Return the fields that depend on the task; `--test FILE` names a file of pairs."""
        chosen = super().fields_of(options)
        if any(each.name == "test" for each in fields(options)):
            renamed = tyro.conf.arg(name="of-test", help="Score one of several tests, by its name.")
            chosen.append(("test", Annotated[str | None, renamed], field(default=None)))
        return chosen

    def run(self) -> Result:
        """Return the scores, also by target length, with the published ones."""
        from rich.console import Group

        from daxy import metrics, tasks
        from daxy.cli._published import as_table, as_values
        from daxy.formats import predictions
        from daxy.scoring import score

        self._check_files()
        self.check_sample()
        split, predicted = self._predictions()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DaxyWarning)  # notes go to stderr below
            scored = score(
                self.task,
                predicted,
                split=split,
                partial=self.partial,
                order=self.order,
                normalize=self.normalize,
                allow_unknown_tokens=self.allow_unknown_tokens or self.run_folder is not None,
            )
        for note in filter(None, (*scored.notes, _changes(scored))):
            say(f"note: {note}")
        if self.out is not None:
            predictions.write(self.out, scored.examples, scored.predictions, scored.values)
        statistics = tasks.get(self.task).statistics(split)
        published = self._published(scored, split.provenance)
        data = {
            "task": self.task,
            "metric": scored.metric,
            "accuracy": scored.accuracy,
            "scores": dict(scored.totals),
            "signatures": {
                name: it for name in scored.totals if (it := metrics.get(name).signature)
            },
            "examples": len(scored.examples),
            "test_examples": scored.test_examples,
            "interval": list(scored.interval) if scored.is_partial else None,
            "unknown_tokens": scored.unknown_tokens.as_json,
            "normalized": dict(scored.normalized),
            "notes": list(scored.notes),
            "by_target_length": {
                str(length): {"examples": count, "score": mean}
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

    def _predictions(self) -> tuple[Split, AnyPredictions]:
        """Return the data, and the predictions for its test set: from a file or a run."""
        if self.run_folder is not None and self.predictions is None:
            return self._predict(self.run_folder)
        if self.predictions is None or self.run_folder is not None:
            raise WrongRequest("expected either --predictions FILE or --run RUN")
        require(self.max_decode_length is None, "--max-decode-length is for --run alone")
        return self._part(self.data.load(self.task)), self.predictions

    def _part(self, split: Split) -> Split:
        if self.test is None and self.sample is None:
            return split
        return split.only(test=self.test, sample=self.sample, seed=self.seed)

    def _published(self, scored: Scored, about: Provenance) -> list[TableCell]:
        """Return the published scores; none for a part of a test set."""
        from daxy.reproduction import published

        if scored.is_partial:
            return []
        cells = published.of_test(self.task, about.options)
        if self.test is None:
            return cells
        return [cell for cell in cells if cell.recipe and cell.recipe.test == self.test]

    def _predict(self, run: Path) -> tuple[Split, Sequences]:
        from daxy.learners.neural.predictor import Predictor as Network
        from daxy.runs.run import truncated_targets
        from daxy.runs.saved import load

        unused = self.partial or self.normalize or self.order is not None
        require(not unused, "--partial, --normalize and --order need --predictions")
        folder = finished(run)
        split = self._part(data_of(folder, self.task, self.data).load(self.task))
        predictor, test = load(run), split.test
        length = self.max_decode_length
        if not isinstance(predictor, Network):
            require(length is None, "--max-decode-length needs a run of a network")
            return split, predictor.predict(test)
        positive = f"max-decode-length must be positive, not {length}"
        require(length is None or length > 0, positive)
        if note := truncated_targets(length or predictor.max_decode_length, test):
            say(f"note: {note}")
        network = cast("Network", predictor)
        return split, network.predict(test, max_decode_length=length)

    def _check_files(self) -> None:
        """Refuse output files that exist or have no known ending, before the work begins."""
        check(self.draw, force=self.force)
        out = self.out
        if out is None:
            return
        named = f"{out}: expected a name that ends in .parquet or .jsonl"
        require(out.suffix.lower() in (".parquet", ".jsonl"), named)
        check_free(out, force=self.force)
        source = self.predictions
        same = source is not None and out.exists() and source.exists() and out.samefile(source)
        require(not same, f"{out} is the predictions file itself; expected another --out")


def _changes(scored: Scored) -> str:
    """Return a note on the changes of a normalisation, each with its number of predictions."""
    changes = sorted(scored.normalized.items(), key=lambda change: -change[1])
    first = ", ".join(f"{name} ({count:,})" for name, count in changes[:CHANGES])
    others = len(changes) - CHANGES
    more = f" and {others} other changes (--json has all)" if others > 0 else ""
    return f"--normalize, by predictions: {first}{more}" if changes else ""


def _draw(scored: Scored, path: Path) -> None:
    """Draw accuracy by length. This alone imports what analyses need, networks included."""
    from daxy.report import analysis_plot
    from daxy.report.analyses.by_length import by_length
    from daxy.report.correctness import Correctness

    save(analysis_plot.draw(by_length(Correctness.of_scored(scored))), path)


def _table(scored: Scored, statistics: Mapping[str, float], about: Provenance) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    from daxy import metrics

    of = f" of {scored.test_examples:,}" if scored.is_partial else ""
    test = f" of test {about.part['test']}" if "test" in about.part else ""
    lines = [f"{scored.task}: {len(scored.examples):,}{of} test examples{test} ({about.source})"]
    for name, total in scored.totals.items():
        signature = metrics.get(name).signature
        lines.append(f"{name} {metrics.text(name, total)}{signature and f' ({signature})'}")
        if scored.is_partial and name == scored.metric:
            low, high = scored.interval
            lines[-1] += f" (95% interval of a random draw: {low:.1%} to {high:.1%})"
    lines += [f"{fact}: {value:.1%}" for fact, value in statistics.items()]
    tests = Table("test", "examples", *scored.totals, box=None, pad_edge=False)
    for name, totals in scored.tests.items():
        values = (metrics.text(metric, value) for metric, value in totals.items())
        tests.add_row(name, f"{scored.counts[name]:,}", *values)
    table = Table("target length", "examples", scored.metric, box=None, pad_edge=False)
    for length, (count, mean) in scored.by_length().items():
        table.add_row(str(length), f"{count:,}", metrics.text(scored.metric, mean))
    return Group(*lines, *(["", tests] if scored.tests else []), "", table)


VERB = Score
