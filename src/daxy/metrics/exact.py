"""Exact match: every token right and none too many (Lake & Baroni 2018, section 3)."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Examples
from daxy.core.sequences import Predictions
from daxy.metrics._metric import Metric, Rules


@final
class ExactMatch(Metric):
    """Share of predictions that equal the target."""

    name = "exact"
    summary = "the prediction equals the target, token for token"

    def score(self, task: Rules, examples: Examples, predictions: Predictions) -> NDArray[np.bool_]:
        """Return where the prediction equals the target."""
        del task
        return examples.target.matches(predictions)


METRIC = ExactMatch()
