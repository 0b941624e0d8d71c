"""Execution: actions are right when they do in the world what the command says, as it says.

The paper calls going along the column first "okay at test" (Ruis et al. 2020, section 3), and
scores by exact match all the same; this is the other score.
"""

from __future__ import annotations

from functools import cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import require
from daxy.core.examples import Examples, Sequences, Tokens
from daxy.languages import grounded
from daxy.metrics._metric import Metric
from daxy.metrics.exact import METRIC as EXACT
from daxy.worlds.examples import GroundedExamples
from daxy.worlds.execution import fault


@final
class Executes(Metric):
    """The share of predictions that bring about the command's effect in its manner."""

    name = "executes"
    summary = "the actions bring about the command's effect in its manner, by whichever way"

    def score(self, examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
        """Return where the prediction does what the command says.

        The target does, so only what differs from it is carried out.

        Raises:
            WrongRequest: the examples have no worlds.
        """
        right = EXACT.score(examples, predictions)
        for row in np.flatnonzero(~right).tolist():
            require(isinstance(examples, GroundedExamples), "only examples with worlds execute")
            assert isinstance(examples, GroundedExamples)
            command = _parsed(examples.source[row])
            right[row] = fault(command, examples.worlds[row], predictions[row]) is None
        return right


@cache
def _parsed(said: Tokens) -> grounded.Command:
    return grounded.parse(said)


METRIC = Executes()
