"""The data side in Python: load a split, score predictions. No machine-learning framework."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from daxy import metrics, tasks
from daxy.core.errors import WrongRequest, require
from daxy.core.examples import Examples, Sequences, Tokens
from daxy.core.settings import check_types
from daxy.core.split import Option, Split
from daxy.core.tokens import odd, spaced, split
from daxy.formats import predictions as prediction_files
from daxy.metrics import Scores
from daxy.tasks import Task

Prediction = str | Sequence[str]
"""Tokens, or a string of them separated by spaces; by commas where tokens have spaces in them."""
Predictions = Mapping[str, Prediction] | Iterable[Prediction] | Sequences | Path | str
"""By key, or in the order of the test set, or the path of a file."""


@dataclass(frozen=True, eq=False)
class Scored:
    """Predictions for a test set with every metric's judgement of them."""

    task: str
    metric: str
    """Name of the primary metric."""
    totals: Mapping[str, float]
    """Each metric's figure for all predictions, between 0 and 1."""
    values: Mapping[str, Scores]
    """Each metric's value of each prediction, in the order of the test set."""
    examples: Examples
    predictions: Sequences
    tests: Mapping[str, Mapping[str, float]]
    """Where the test set is several tests, each metric's figure for each of them, by its name."""

    @property
    def accuracy(self) -> float:
        """The primary metric's figure."""
        return self.totals[self.metric]

    @property
    def right(self) -> Scores:
        """The primary metric's value of each prediction."""
        return self.values[self.metric]

    def by_length(self) -> dict[int, tuple[int, float]]:
        """Return by target length how many examples there are, and the primary metric's figure."""
        lengths: NDArray[np.int64] = self.examples.target.lengths
        metric, found = metrics.get(self.metric), dict[int, tuple[int, float]]()
        for length in np.unique(lengths).tolist():
            rows = np.flatnonzero(lengths == length)
            some, said = self.examples.take(rows), self.predictions.take(rows)
            found[length] = len(rows), metric.total(some, said, self.right[rows])
        return found


def load(
    task: str, *, seed: int = 0, official: Path | str | None = None, **choices: Option
) -> Split:
    """Return the data of a task, as `daxy.load("scan/addprim_jump", oversample=False)`.

    It is the split as published, every line of it. A validation set is there where the benchmark
    has one; elsewhere `validation="draw"` carves the one that `daxy train` selects weights by.

    Args:
        task: The task's name.
        seed: Of the draws: of the split where it is a draw, and of the validation set.
        official: Official files, to load instead of generating.
        choices: What else the task's benchmark lets one choose: `daxy show TASK --help` lists it.

    Raises:
        UnknownName: there is no such task, or it has no such choice.
        WrongRequest: a choice that does not go with the task, or has a wrong value.
        WrongFile: an official file is missing, or a line of it is wrong.
    """
    check_types(load, {"task": task, "official": official})
    files = None if official is None else Path(official)
    return tasks.data(task, seed=seed, official=files, **choices).load(task)


def score(task: str, predictions: Predictions, *, split: Split | None = None) -> Scored:
    """Return the scores of predictions for a task's test set.

    Args:
        task: The task's name.
        predictions: By key, in the order of the test set, or the path of a file.
        split: The split whose test set they are for; the task's with seed 0 unless given.

    Raises:
        UnknownName: there is no such task.
        WrongRequest: predictions are missing, too many, for no test example, or no tokens.
        WrongFile: the same, in a file.
    """
    check_types(score, {"task": task, "predictions": predictions, "split": split})
    asked = tasks.get(task)
    data = asked.split() if split is None else split
    other = data.provenance.task
    require(other == task, f"this split is of {other}; expected one of {task}")
    examples = data.test
    given = asked.normalised(_aligned(predictions, examples, asked))
    values = asked.scores(examples, given)
    totals = asked.totals(examples, given, values)
    frozen = MappingProxyType(totals), MappingProxyType(values)
    return Scored(task, asked.metric, *frozen, examples, given, asked.by_test(data, given, values))


def _aligned(predictions: Predictions, examples: Examples, task: Task[Any]) -> Sequences:
    if isinstance(predictions, str | Path):
        path = Path(predictions)
        return prediction_files.read(path, examples, source_spelling=task.source_spelling)
    known = spaced(examples.source, examples.target)
    if isinstance(predictions, Mapping):
        return _by_key(cast("Mapping[str, Prediction]", predictions), examples, known)
    given = predictions if isinstance(predictions, Sequences) else list(predictions)
    if len(given) != len(examples):
        counts = f"{len(given)} predictions for {len(examples)} test examples"
        raise WrongRequest(f"{counts}; expected one each, in their order")
    return given if isinstance(given, Sequences) else _sequences(given, known)


def _by_key(
    predictions: Mapping[str, Prediction], examples: Examples, spaced: frozenset[str]
) -> Sequences:
    known = set(examples.keys)
    if unknown := [key for key in predictions if key not in known]:
        raise WrongRequest(f"{len(unknown)} predictions are for no test example: {unknown[0]!r}")
    if missing := [key for key in examples.keys if key not in predictions]:
        raise WrongRequest(f"{len(missing)} predictions are missing: {missing[0]!r}")
    return _sequences([predictions[key] for key in examples.keys], spaced)


def _sequences(predictions: Sequence[Prediction], spaced: frozenset[str]) -> Sequences:
    return Sequences.of(_tokens(prediction, spaced) for prediction in predictions)


def _tokens(prediction: Any, spaced: frozenset[str]) -> Tokens:
    require(isinstance(prediction, Iterable), f"a prediction is {prediction!r}; expected tokens")
    tokens = split(prediction, spaced) if isinstance(prediction, str) else tuple(prediction)
    wrong = odd(tokens, spaced)
    commas = "; commas stand between tokens here" if spaced else ""
    require(not wrong, f"a prediction has {wrong[:1]}, which is not one token{commas}")
    return tokens
