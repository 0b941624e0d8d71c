"""Perplexity of the targets: how far a model is from expecting them, token by token."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import require
from daxy.core.examples import Examples
from daxy.core.sequences import Predictions
from daxy.metrics._metric import Metric, Rules, Scores


@final
class Perplexity(Metric):
    """Exponential of the mean negative log-likelihood of a target token, the end included.

    It needs the log-likelihood of each target; 1 is perfect.
    """

    name = "perplexity"
    summary = "perplexity of a target token; 1 is perfect"
    is_share = False

    def score(
        self, task: Rules, examples: Examples, predictions: Predictions
    ) -> NDArray[np.float64]:
        """Return the perplexity of each target: shape [count].

        Raises:
            WrongRequest: there are no log-likelihoods.
        """
        del task
        return np.exp(-_log_likelihoods(predictions) / _tokens(examples))

    def total(
        self,
        task: Rules,
        examples: Examples,
        predictions: Predictions,
        scores: Scores | None = None,
    ) -> float:
        """Return the perplexity over all target tokens; NaN for no examples."""
        del task, scores
        if not len(examples):
            return float("nan")
        return float(np.exp(-_log_likelihoods(predictions).sum() / _tokens(examples).sum()))


def _log_likelihoods(predictions: Predictions) -> NDArray[np.float64]:
    values = predictions.log_likelihood
    require(values is not None, "perplexity needs log-likelihoods, which these predictions lack")
    assert values is not None
    return values


def _tokens(examples: Examples) -> NDArray[np.int64]:
    """Return the tokens of each target, its end included."""
    return examples.target.lengths + 1


METRIC = Perplexity()
