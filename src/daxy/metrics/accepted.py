"""Accepted translations: the one that is given, or another way to say the same.

`you are daxy .` is `tu es daxiste .` and `vous etes daxiste .` too: English does not tell whether
one person is spoken to or several, or how. The papers count the one that is given alone; this is
the other score.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Examples, Sequences
from daxy.languages import copular
from daxy.metrics._metric import Metric
from daxy.metrics.exact import METRIC as EXACT


@final
class Accepted(Metric):
    """The share of predictions that say in the other language what the source says."""

    name = "accepted"
    summary = "the given translation, or another with the same meaning"

    def score(self, examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
        """Return where the prediction is a translation; see `daxy.languages.copular.accepted`."""
        right = EXACT.score(examples, predictions)
        for row in np.flatnonzero(~right).tolist():
            asked = examples[row]
            right[row] = predictions[row] in copular.accepted(asked.source, asked.target)
        return right


METRIC = Accepted()
