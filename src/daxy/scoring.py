"""Scores of anybody's predictions, with notes on odd ones. No machine-learning framework."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from daxy import metrics, tasks
from daxy.core.display import Brief, counted, table
from daxy.core.errors import DaxyWarning, WrongRequest, quote, require
from daxy.core.examples import Examples, Sequences, Tokens
from daxy.core.files import usable
from daxy.core.intervals import interval_of_mean, interval_of_share
from daxy.core.normalization import Normalizer
from daxy.core.settings import check_types
from daxy.core.split import Split
from daxy.core.tokens import odd, spaced
from daxy.core.tokens import split as split_text
from daxy.formats import predictions as prediction_files
from daxy.formats.predictions import COMMAS, AlignedPredictions, ReadOptions
from daxy.metrics import Scores
from daxy.tasks import Task

Prediction = str | Sequence[str]
"""Tokens, or a string of them separated by spaces; by commas where tokens have spaces in them."""
AnyPredictions = Mapping[str, Prediction] | Iterable[Prediction] | Sequences | Path | str
"""By key, or in the order of the test set, or the path of a file."""

NEARLY_ALL = 0.9
"""The share of predictions with unknown tokens from which on a score is refused."""
MANY = 0.4
"""The share of predictions that are targets of other examples from which on it is noted."""
SHOWN = 3
"""Unknown tokens that a message names."""


@dataclass(frozen=True)
class UnknownTokens:
    """Tokens of predictions that no target of the task has."""

    predictions: int
    """Number of predictions with one."""
    of: int
    """Number of predictions."""
    counts: Mapping[str, int]
    """Occurrences of each, the commonest first."""

    @classmethod
    def of_predictions(cls, predictions: Sequences, known: frozenset[str]) -> UnknownTokens:
        """Count the tokens of predictions that are not known."""
        is_unknown = np.array([symbol not in known for symbol in predictions.symbols], np.bool_)
        unknown = is_unknown[predictions.codes] if len(is_unknown) else np.zeros(0, np.bool_)
        owners = np.repeat(np.arange(len(predictions)), predictions.lengths)
        often = np.bincount(predictions.codes[unknown], minlength=len(predictions.symbols))
        order = np.argsort(-often, kind="stable")
        counts = {predictions.symbols[at]: int(often[at]) for at in order if often[at]}
        return cls(len(np.unique(owners[unknown])), len(predictions), counts)

    def message(self, task: str) -> str:
        """Say how many predictions have an unknown token, and name the commonest."""
        often = {
            token: f"{count:,} time{'s' * (count != 1)}" for token, count in self.counts.items()
        }
        named = [f"{quote(token, most=40)} ({times})" for token, times in often.items()]
        few = ", ".join(named[:SHOWN])
        more = f" and {len(named) - SHOWN:,} others" if len(named) > SHOWN else ""
        have = f"{self.predictions:,} of {self.of:,} predictions have a token"
        return f"{have} that no target of {task} has: {few}{more}"

    @property
    def as_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {"predictions": self.predictions, "total": self.of, "tokens": dict(self.counts)}


@dataclass(frozen=True, eq=False)
class Scored(Brief):
    """Predictions for a test set with every metric's judgement of them."""

    task: str
    metric: str
    """Name of the primary metric."""
    totals: Mapping[str, float]
    """The score of all predictions by each metric, between 0 and 1."""
    values: Mapping[str, Scores]
    """Each metric's value of each prediction, in the order of the test set."""
    examples: Examples
    """The test examples that have a prediction."""
    predictions: Sequences
    tests: Mapping[str, Mapping[str, float]]
    """The same for each of several tests, by its name."""
    test_examples: int = 0
    """Number of examples of the whole test set; see `is_partial`."""
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """Number of examples with a prediction of each of several tests, by its name."""
    unknown_tokens: UnknownTokens = field(default_factory=lambda: UnknownTokens(0, 0, {}))
    """Tokens that no target of the task has."""
    normalized: Mapping[str, int] = field(default_factory=dict[str, int])
    """Number of predictions that each change of a normalisation changed, by the change."""
    notes: tuple[str, ...] = ()
    """Messages on anything odd about the predictions."""

    @property
    def _brief(self) -> str:
        part = f"{len(self.examples):,} of " * self.is_partial
        count = f"{part}{counted(self.test_examples or len(self.examples), 'example')}"
        return f"{self.task}: {self.metric} {metrics.text(self.metric, self.accuracy)}, {count}"

    def _repr_html_(self) -> str:
        """Return the scores as an HTML table, for a notebook."""
        low, high = self.interval
        rows = [("all", len(self.examples), *(metrics.text(*it) for it in self.totals.items()))]
        rows += [
            (name, self.counts[name], *(metrics.text(*it) for it in totals.items()))
            for name, totals in self.tests.items()
        ]
        interval = f"{self.metric}: 95% interval {low:.1%} to {high:.1%}"
        note = "; ".join((interval, *self.notes))
        return table(("test", "examples", *self.totals), rows, title=self.task, note=note)

    @property
    def accuracy(self) -> float:
        """The score by the primary metric."""
        return self.totals[self.metric]

    @property
    def right(self) -> Scores:
        """The primary metric's value of each prediction."""
        return self.values[self.metric]

    @property
    def is_partial(self) -> bool:
        """Whether some examples of the test set have no prediction."""
        return len(self.examples) < self.test_examples

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the primary metric, taking the examples as a random draw.

        Wilson's interval for a share of right predictions; the bootstrap's percentiles (1,000 draws
        with seed 0, 200 of a metric of a whole corpus) for any other figure.
        """
        metric, values = metrics.get(self.metric), self.right
        if metric.is_mean and values.dtype == np.bool_:
            return interval_of_share(int(values.sum()), len(values))
        if metric.is_mean:
            return interval_of_mean(values.astype(np.float64))
        return interval_of_mean(values.astype(np.float64), self._total, draws=200)

    def _total(self, rows: NDArray[np.int64]) -> float:
        some, given = self.examples.take(rows), self.predictions.take(rows)
        return tasks.get(self.task).total(self.metric, some, given, self.right[rows])

    def by_length(self) -> dict[int, tuple[int, float]]:
        """Return by target length how many examples there are, and the primary metric's figure."""
        lengths: NDArray[np.int64] = self.examples.target.lengths
        groups = {int(it): np.flatnonzero(lengths == it) for it in np.unique(lengths)}
        return {length: (len(rows), self._total(rows)) for length, rows in groups.items()}


def score(
    task: str | Split,
    predictions: AnyPredictions,
    *,
    split: Split | None = None,
    partial: bool = False,
    order: Path | str | None = None,
    normalize: bool = False,
    allow_unknown_tokens: bool = False,
) -> Scored:
    """Return the scores of predictions for a task's test set.

        >>> daxy.score("scan/length", "predictions.jsonl").accuracy

    Anything odd about the predictions is a warning, and one of `Scored.notes`.

    Args:
        task: The task's name, or a split, as `daxy.pairs` returns one.
        predictions: By key, in the order of the test set, or the path of a file.
        split: The split whose test set they are for; the task's with seed 0 unless given.
            `split.only(test="D")` has one of several tests, `split.only(sample=200)` a draw.
        partial: Score the examples that have a prediction, though others have none.
        order: A file of the test examples (as published, or as `daxy export` writes one) in whose
            order predictions without keys are.
        normalize: Read predictions in common other spellings as the task's tokens: see
            `daxy.core.normalization`. `Scored.normalized` says what was changed.
        allow_unknown_tokens: Score predictions of which nearly all have a token that no target of
            the task has.

    Raises:
        UnknownName: there is no such task.
        WrongRequest: predictions are missing, too many, for no test example, or no tokens; nearly
            all have tokens that no target has; or the split's test set was replaced.
        WrongFile: the same, in a file.
    """
    check_types(
        score,
        {"task": task, "predictions": predictions, "split": split, "partial": partial}
        | {"order": order, "normalize": normalize, "allow_unknown_tokens": allow_unknown_tokens},
    )
    if isinstance(task, Split):
        require(split is None, "two splits are given; leave out split=")
        split, task = task, task.provenance.task
    asked = tasks.get(task)
    data = asked.split() if split is None else split
    other = data.provenance.task
    require(other == task, f"this split is of {other}; expected one of {task}")
    how = ReadOptions(
        source_spelling=asked.source_spelling,
        order=None if order is None else usable(Path(order)),
        partial=partial,
        any_tokens=normalize,
    )
    aligned = _aligned(predictions, data.test, how)
    said, changes = aligned.predictions, Counter[str]()
    normalizer = Normalizer(_known(data), asked.aliases, asked.source_name)
    if normalize:
        said, changes = normalizer.read(said)
    unknown = UnknownTokens.of_predictions(said, normalizer.vocabulary)
    if unknown.predictions >= NEARLY_ALL * unknown.of and not allow_unknown_tokens:
        require(not unknown.predictions, _refusal(unknown, task, said, normalizer))
    aligned = AlignedPredictions(said, aligned.rows)
    has_order = order is not None
    scored = _scored(asked, data, aligned, unknown, changes, normalizer, has_order=has_order)
    for note in scored.notes:
        warnings.warn(note, DaxyWarning, stacklevel=2)
    return scored


def _scored(
    task: Task[Any],
    data: Split,
    aligned: AlignedPredictions,
    unknown: UnknownTokens,
    changes: Mapping[str, int],
    normalizer: Normalizer,
    *,
    has_order: bool,
) -> Scored:
    """Return the scores of predictions for some rows of a test set."""
    said, rows = aligned.predictions, aligned.rows
    is_whole = len(rows) == len(data.test)
    examples = data.test if is_whole else data.test.take(rows)
    values = task.scores(examples, said)
    totals = task.totals(examples, said, values)
    bounds = {name: np.searchsorted(rows, (at.start, at.stop)) for name, at in data.tests.items()}
    places = {name: slice(int(start), int(end)) for name, (start, end) in bounds.items()}
    notes = [_unknown_note(unknown, task.name, said, normalizer)] if unknown.predictions else []
    if not data.is_as_described:
        notes.append(
            f"a part of the split was replaced: its test set has {len(data.test):,} examples"
        )
    notes += _oddities(examples, said, has_order=has_order)
    return Scored(
        task.name,
        task.metric,
        MappingProxyType(totals),
        MappingProxyType(values),
        examples,
        said,
        task.by_test(examples, places, said, values),
        test_examples=cast("int", data.provenance.part.get("of", len(data.test))),
        counts={name: at.stop - at.start for name, at in places.items()},
        unknown_tokens=unknown,
        normalized=dict(changes),
        notes=tuple(notes),
    )


def _known(data: Split) -> frozenset[str]:
    """Return the tokens of the targets of all parts."""
    parts = data.parts.values()
    return frozenset(symbol for examples in parts for symbol in examples.target.symbols)


def _refusal(
    unknown: UnknownTokens, task: str, predictions: Sequences, normalizer: Normalizer
) -> str:
    """Say that nearly all predictions have unknown tokens, and what to do."""
    advice = _advice(predictions, normalizer) or "no common other spelling of its tokens is known"
    return f"{unknown.message(task)}; {advice}; --allow-unknown-tokens scores them as they are"


def _unknown_note(
    unknown: UnknownTokens, task: str, predictions: Sequences, normalizer: Normalizer
) -> str:
    return "; ".join(filter(None, (unknown.message(task), _advice(predictions, normalizer))))


def _advice(predictions: Sequences, normalizer: Normalizer) -> str:
    """Say what a normalisation would change, if it would leave fewer unknown tokens."""
    again, changes = normalizer.read(predictions)
    before, after = (
        UnknownTokens.of_predictions(each, normalizer.vocabulary).predictions
        for each in (predictions, again)
    )
    is_empty = 2 * int((again.lengths == 0).sum()) > len(again)
    if after >= before or is_empty:
        return ""
    named = ", ".join(name for name, _ in changes.most_common(SHOWN))
    more = f" and {len(changes) - SHOWN} other changes" if len(changes) > SHOWN else ""
    left = f", which leaves {after:,} with one" if after else ""
    return f"--normalize (in Python normalize=True) reads them ({named}{more}){left}"


def _oddities(examples: Examples, predictions: Sequences, *, has_order: bool) -> list[str]:
    """Return messages on predictions that look as if they were for other examples."""
    advice = "" if has_order else ", which --order (in Python order=) names"
    count, notes = len(predictions), list[str]()
    empty = int((predictions.lengths == 0).sum())
    if 2 * empty > count:
        notes.append(f"{empty:,} of {count:,} predictions are empty")
    exact = float(examples.target.matches(predictions).mean()) if count else 1.0
    if exact > 0.5 or count < 2:
        return notes
    targets = Counter(examples.target)
    shared = sum((targets & Counter(predictions)).values())
    if shared >= MANY * count and exact < shared / count / 5:
        bag = (
            f"{shared:,} of {count:,} predictions are targets of the test set, {exact:.1%} of them"
        )
        notes.append(f"{bag} in their place: they may be in the order of another file{advice}")
    copies = float(examples.source.matches(predictions).mean())
    if copies >= NEARLY_ALL and len(predictions):
        notes.append(f"{copies:.0%} of the predictions are the sources of their examples")
    return notes


def _aligned(
    predictions: AnyPredictions, examples: Examples, how: ReadOptions
) -> AlignedPredictions:
    if isinstance(predictions, str | Path):
        return prediction_files.read(usable(Path(predictions)), examples, how)
    known = spaced(examples.source, examples.target)
    if isinstance(predictions, Mapping):
        return _by_key(cast("Mapping[str, Prediction]", predictions), examples, known, how)
    if hasattr(predictions, "columns"):
        raise WrongRequest("predictions are a table; expected a column of it, table['prediction']")
    given = predictions if isinstance(predictions, Sequences) else list(predictions)
    if how.order is not None:
        keys = prediction_files.in_order(how.order, len(given), examples)
        return _by_key(dict(zip(keys, given, strict=True)), examples, known, how)
    if len(given) != len(examples):
        plural = "" if len(given) == 1 else "s"
        counts = f"{len(given):,} prediction{plural} for {len(examples):,} test examples"
        keys = "; some of them need keys" if how.partial else ""
        raise WrongRequest(f"{counts}; expected one each, in their order{keys}")
    said = given if isinstance(given, Sequences) else _sequences(given, known, how)
    return AlignedPredictions(said, np.arange(len(examples)))


def _by_key(
    predictions: Mapping[str, Prediction],
    examples: Examples,
    spaced: frozenset[str],
    how: ReadOptions,
) -> AlignedPredictions:
    known = set(examples.keys)
    if unknown := [key for key in predictions if key not in known]:
        first = quote(unknown[0])
        advice = "; expected the `key` of each example"
        raise WrongRequest(f"{len(unknown)} predictions are for no test example: {first}{advice}")
    rows = [row for row, key in enumerate(examples.keys) if key in predictions]
    if len(rows) < len(examples) and not (how.partial and rows):
        missing = [key for key in examples.keys if key not in predictions]
        partial = "; partial=True scores the others" if rows else ""
        raise WrongRequest(f"{len(missing)} predictions are missing: {quote(missing[0])}{partial}")
    given = [predictions[examples.keys[row]] for row in rows]
    return AlignedPredictions(_sequences(given, spaced, how), np.array(rows))


def _sequences(
    predictions: Sequence[Prediction], spaced: frozenset[str], how: ReadOptions
) -> Sequences:
    return Sequences.of(_tokens(prediction, spaced, how) for prediction in predictions)


def _tokens(prediction: Any, spaced: frozenset[str], how: ReadOptions) -> Tokens:
    if not isinstance(prediction, Iterable):
        raise WrongRequest(f"a prediction is {quote(prediction)}; expected tokens")
    is_text = isinstance(prediction, str)
    tokens = split_text(prediction, spaced) if is_text else tuple(prediction)
    wrong = odd(tokens, spaced)
    if how.any_tokens:
        wrong = [token for token in wrong if not isinstance(token, str)]
    if wrong and not isinstance(wrong[0], str):
        advice = "expected tokens as texts; decode token ids with the model's vocabulary"
        raise WrongRequest(f"a prediction has {quote(wrong[0])}; {advice}")
    if wrong:
        commas = f"; {COMMAS}" if spaced and not how.any_tokens else ""
        raise WrongRequest(f"a prediction has {quote(wrong[0])}, which is not one token{commas}")
    return tokens
