"""Back-mapping: a command is right when it means the given actions (Bastings et al. 2018, 6.1).

NACS asks for a command that means the input `I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP`: both
`jump left twice` and `jump left and jump left` are right, whichever of them the data has.
"""

from __future__ import annotations

from typing import final

from daxy.metrics._metric import Accepted


@final
class BackMapping(Accepted):
    """The share of predictions that are commands of SCAN and mean the source."""

    name = "back_mapping"
    summary = "the prediction is a command of SCAN that means the source"


METRIC = BackMapping()
