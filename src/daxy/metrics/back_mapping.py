"""Back-mapping: a command is right when it means the given actions (Bastings et al. 2018, 6.1).

NACS asks for a command that means the input `I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP`: both
`jump left twice` and `jump left and jump left` are right, whichever of them the data has.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Examples, Sequences
from daxy.languages import scan
from daxy.metrics._metric import Metric


@final
class BackMapping(Metric):
    """The share of predictions that are commands of SCAN and mean the source."""

    name = "back_mapping"
    summary = "the prediction is a command of SCAN that means the source"

    def score(self, examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
        """Return where the prediction means the source; outside the grammar it is always wrong.

        The grammar has the 20,910 commands; those with `dab` belong to it only where a source asks
        for that proxy primitive's action.
        """
        assert len(examples) == len(predictions), (len(examples), len(predictions))
        asks_for_dab = "I_DAB" in examples.source.compact().symbols
        meaning = scan.meanings(scan.SCAN_WITH_DAB if asks_for_dab else scan.SCAN)
        judged = zip(examples.source, predictions, strict=True)
        right = (meaning.get(command) == actions for actions, command in judged)
        return np.fromiter(right, np.bool_, len(examples))


METRIC = BackMapping()
