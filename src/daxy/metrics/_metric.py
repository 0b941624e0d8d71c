"""Base class of metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol, final

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Examples, Sequences
from daxy.core.sequences import Predictions

Scores = NDArray[np.bool_] | NDArray[np.float64]
"""One value an example: right or wrong, a grade between 0 and 1, or another number."""


class Rules(Protocol):
    """The part of `daxy.tasks.Task` that metrics use."""

    @property
    def name(self) -> str:
        """The task's name."""
        ...

    def accepted(self, examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
        """Return where a prediction is right by the rules of the task."""
        ...


class Metric(ABC):
    """A score of predictions for a task, in the order of the examples.

    `score` returns a value for each example, `total` their mean, which papers print. A metric of a
    whole corpus, such as BLEU, overrides `total`.
    """

    name: str
    summary: str
    signature: ClassVar[str] = ""
    """Variant of the metric, printed with its figures where variants exist."""
    is_share: ClassVar[bool] = True
    """Whether values are between 0 and 1, and printed in per cent."""

    @property
    def is_mean(self) -> bool:
        """Whether the total is the mean of the values."""
        return type(self).total is Metric.total

    def text(self, value: float) -> str:
        """Return a value for people."""
        return f"{value:.1%}" if self.is_share else f"{value:.4g}"

    @abstractmethod
    def score(self, task: Rules, examples: Examples, predictions: Predictions) -> Scores:
        """Return the value of each prediction: shape [count].

        Args:
            task: The task, for its rules.
            examples: The examples of the predictions.
            predictions: One for each example, with log-likelihoods where the learner has them.
        """

    def total(
        self,
        task: Rules,
        examples: Examples,
        predictions: Predictions,
        scores: Scores | None = None,
    ) -> float:
        """Return the total of all predictions, NaN for none; `scores` as returned by `score`."""
        values = self.score(task, examples, predictions) if scores is None else scores
        return float(values.mean()) if len(examples) else float("nan")


@final
@dataclass(frozen=True)
class Accepted(Metric):
    """Share of predictions that are right by the rules of the task; papers name it by task."""

    name: str
    summary: str

    def score(self, task: Rules, examples: Examples, predictions: Predictions) -> Scores:
        """Return where the prediction is right by the rules of the task."""
        return task.accepted(examples, predictions)
