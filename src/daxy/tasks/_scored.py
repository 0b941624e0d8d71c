"""Scores of predictions by the metrics of a task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from daxy import metrics
from daxy.core.examples import Examples, Sequences
from daxy.core.sequences import Predictions
from daxy.metrics import Scores


class Scored(ABC):
    """The part of a task that scores predictions."""

    name: str
    metrics: tuple[str, ...]

    @abstractmethod
    def accepted(self, examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
        """Return where a prediction is right by the rules."""

    def score(self, metric: str, examples: Examples, predictions: Sequences) -> Scores:
        """Return a metric's value for each prediction."""
        given = Predictions.of_sequences(predictions)
        return metrics.score(metric, self, examples, given)

    def total(
        self,
        metric: str,
        examples: Examples,
        predictions: Sequences,
        scores: Scores | None = None,
    ) -> float:
        """Return a metric's total; `scores`, if given, are the values of `score`."""
        given = Predictions.of_sequences(predictions)
        return metrics.total(metric, self, examples, given, scores)

    def scores(self, examples: Examples, predictions: Sequences) -> dict[str, Scores]:
        """Return the value of each metric for each prediction."""
        return {name: self.score(name, examples, predictions) for name in self.metrics}

    def totals(
        self,
        examples: Examples,
        predictions: Sequences,
        scores: Mapping[str, Scores] | None = None,
    ) -> dict[str, float]:
        """Return the total of each metric, from 0 to 1; `scores` as returned by `scores`."""
        known = scores or {}
        return {
            name: self.total(name, examples, predictions, known.get(name)) for name in self.metrics
        }

    def by_test(
        self,
        examples: Examples,
        tests: Mapping[str, slice],
        predictions: Sequences,
        scores: Mapping[str, Scores],
    ) -> dict[str, dict[str, float]]:
        """Return the totals of each of several tests by name; an empty test has none.

        Args:
            examples: The examples of all tests.
            tests: The rows of each test.
            predictions: One for each example.
            scores: The values for all examples, by metric.
        """
        return {
            name: self.totals(
                examples[rows],
                predictions[rows],
                {metric: each[rows] for metric, each in scores.items()},
            )
            for name, rows in tests.items()
            if rows.start < rows.stop
        }
