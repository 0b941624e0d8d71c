"""Fine accuracy (Grefenstette et al. 2015, section 4.3)."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Examples
from daxy.core.sequences import Predictions
from daxy.metrics._metric import Metric, Rules


@final
class Fine(Metric):
    """Share of the target, its end included, before the first error."""

    name = "fine"
    summary = "the share of the target before the first error, the end token included"

    def score(
        self, task: Rules, examples: Examples, predictions: Predictions
    ) -> NDArray[np.float64]:
        """Return the share of each target before the first error."""
        del task
        target = examples.target
        assert len(target) == len(predictions), (len(target), len(predictions))
        # The end is a symbol of its own: a length error is an error there.
        common = np.minimum(target.lengths, predictions.lengths)
        starts = np.concatenate([[0], np.cumsum(common)])
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], common)
        wanted = target.codes[np.repeat(target.offsets[:-1], common) + within]
        codes = predictions.codes_in(target.symbols)
        is_wrong = wanted != codes[np.repeat(predictions.offsets[:-1], common) + within]
        right = np.where(target.lengths == predictions.lengths, target.lengths + 1, common)
        rows = np.repeat(np.arange(len(common)), common)
        np.minimum.at(right, rows[is_wrong], within[is_wrong])
        return right / (target.lengths + 1)


METRIC = Fine()
