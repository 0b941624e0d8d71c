"""What every metric can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Examples, Sequences

Scores = NDArray[np.bool_] | NDArray[np.float64]
"""One value an example: right or wrong, or a grade between 0 and 1."""


class Metric(ABC):
    """A judgement of predictions, in the order of the examples.

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
    def score(self, examples: Examples, predictions: Sequences) -> Scores:
        """Return the value of each prediction: shape [count]."""

    def total(
        self, examples: Examples, predictions: Sequences, scores: Scores | None = None
    ) -> float:
        """Return the one figure for all predictions; not a number when there are none.

        `scores` are those of `score`, where they are known.
        """
        found = self.score(examples, predictions) if scores is None else scores
        return float(found.mean()) if len(examples) else float("nan")
