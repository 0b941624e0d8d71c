"""The data side in Python: load a split, score predictions. No machine-learning framework."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daxy import tasks
from daxy.core.errors import WrongRequest, require
from daxy.core.examples import Examples, Sequences, Tokens
from daxy.core.split import Split
from daxy.formats import predictions as prediction_files
from daxy.metrics import Scores
from daxy.tasks import Data, Task, Validation

Prediction = str | Sequence[str]
"""Tokens, or a string of them separated by spaces."""
Predictions = Mapping[str, Prediction] | Sequence[Prediction] | Sequences | Path | str
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

    @property
    def accuracy(self) -> float:
        """The primary metric's figure."""
        return self.totals[self.metric]

    @property
    def right(self) -> Scores:
        """The primary metric's value of each prediction."""
        return self.values[self.metric]

    def by_length(self) -> dict[int, tuple[int, float]]:
        """Return by target length how many examples there are and their mean score."""
        lengths: NDArray[np.int64] = self.examples.target.lengths
        groups = {int(length): self.right[lengths == length] for length in np.unique(lengths)}
        return {length: (len(group), float(group.mean())) for length, group in groups.items()}


def load(
    task: str,
    *,
    seed: int = 0,
    oversample: bool = True,
    validation: Validation = "draw",
    validation_fraction: float = 0.1,
    official: Path | str | None = None,
) -> Split:
    """Return the data of a task, as `daxy.load("scan/addprim_jump")`.

    The options are the fields of `daxy.tasks.Data`.

    Raises:
        UnknownName: there is no such task.
        WrongRequest: an option that the task does not have, or with a wrong value.
        WrongFile: an official file is missing, or a line of it is wrong.
    """
    data = Data(
        seed=seed,
        oversample=oversample,
        validation=validation,
        validation_fraction=validation_fraction,
        official=None if official is None else Path(official),
    )
    return data.load(task)


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
    asked = tasks.get(task)
    examples = (asked.split(Data(validation="none")) if split is None else split).test
    given = asked.normalised(_aligned(predictions, examples, asked))
    values = asked.scores(examples, given)
    totals = asked.totals(examples, given)
    frozen = MappingProxyType(totals), MappingProxyType(values)
    return Scored(task, asked.metric, *frozen, examples, given)


def _aligned(predictions: Predictions, examples: Examples, task: Task) -> Sequences:
    if isinstance(predictions, str | Path):
        path = Path(predictions)
        return prediction_files.read(path, examples, source_spelling=task.source_spelling)
    if isinstance(predictions, Mapping):
        return _by_key(predictions, examples)
    if len(predictions) != len(examples):
        counts = f"{len(predictions)} predictions for {len(examples)} test examples"
        raise WrongRequest(f"{counts}; expected one each, in their order")
    return predictions if isinstance(predictions, Sequences) else _sequences(predictions)


def _by_key(predictions: Mapping[str, Prediction], examples: Examples) -> Sequences:
    known = set(examples.keys)
    if unknown := [key for key in predictions if key not in known]:
        raise WrongRequest(f"{len(unknown)} predictions are for no test example: {unknown[0]!r}")
    if missing := [key for key in examples.keys if key not in predictions]:
        raise WrongRequest(f"{len(missing)} predictions are missing: {missing[0]!r}")
    return _sequences([predictions[key] for key in examples.keys])


def _sequences(predictions: Sequence[Prediction]) -> Sequences:
    return Sequences.of(map(_tokens, predictions))


def _tokens(prediction: Any) -> Tokens:
    require(isinstance(prediction, Iterable), f"a prediction is {prediction!r}; expected tokens")
    tokens = tuple(prediction.split() if isinstance(prediction, str) else prediction)
    odd = [token for token in tokens if not _is_token(token)]
    require(not odd, f"a prediction has {odd[:1]}, which is not one token")
    return tokens


def _is_token(value: Any) -> bool:
    return isinstance(value, str) and value.split() == [value]
