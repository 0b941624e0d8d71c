"""What every metric can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Examples, Predictions, Sequences

Scores = NDArray[np.bool_] | NDArray[np.float64]
"""One value an example: right or wrong, or a grade between 0 and 1."""


class Rules(Protocol):
    """What a metric asks of a task, which is one of `daxy.tasks.Task`."""

    @property
    def name(self) -> str:
        """The task's name."""
        ...

    def accepted(self, examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
        """Return where a prediction is right by the rules of the task."""
        ...


class Metric(ABC):
    """A score of predictions for a task, in the order of the examples.

    `score` gives one value an example and `total` the figure that papers print: their mean, unless
    the metric is one of a whole corpus (as BLEU is), which overrides it.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    signature: ClassVar[str] = ""
    """What says how it is counted, beside its figures, where that is done in several ways."""

    @property
    def is_mean(self) -> bool:
        """Whether the figure is the mean of the values, so that some examples have one too."""
        return type(self).total is Metric.total

    @abstractmethod
    def score(self, task: Rules, examples: Examples, predictions: Predictions) -> Scores:
        """Return the value of each prediction: shape [count].

        Args:
            task: The task, of whose rules a metric may ask.
            examples: What the predictions are for.
            predictions: One for each example, with log-likelihoods where the learner has them.
        """

    def total(
        self,
        task: Rules,
        examples: Examples,
        predictions: Predictions,
        scores: Scores | None = None,
    ) -> float:
        """Return the one figure for all predictions; not a number when there are none.

        `scores` are those of `score`, where they are known.
        """
        values = self.score(task, examples, predictions) if scores is None else scores
        return float(values.mean()) if len(examples) else float("nan")


class Accepted(Metric):
    """The share of predictions that are right by the rules of the task, equal to the target or not.

    What is right differs between tasks, and so does the name that papers give this score.
    """

    def score(self, task: Rules, examples: Examples, predictions: Predictions) -> Scores:
        """Return where the prediction is right by the rules of the task."""
        return task.accepted(examples, predictions)
