"""Exact match: every token right and none too many (Lake & Baroni 2018, section 3)."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Examples, Sequences
from daxy.metrics._metric import Metric


@final
class ExactMatch(Metric):
    """The share of predictions that equal the target from end to end."""

    name = "exact"
    summary = "the prediction equals the target, token for token"

    def score(self, examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
        """Return where the prediction equals the target."""
        target = examples.target
        assert len(target) == len(predictions), (len(target), len(predictions))
        right = target.lengths == predictions.lengths
        rows = np.flatnonzero(right)
        wanted, given = target.take(rows), predictions.take(rows)
        differs = wanted.codes != given.codes_in(wanted.symbols)
        row_of_token = np.repeat(np.arange(len(rows)), wanted.lengths)
        right[rows] = np.bincount(row_of_token[differs], minlength=len(rows)) == 0
        return right


METRIC = ExactMatch()
