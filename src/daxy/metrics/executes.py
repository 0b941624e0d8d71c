"""Execution: actions are right when they do in the world what the command says, as it says.

The paper calls going along the column first "okay at test" (Ruis et al. 2020, section 3), and
scores by exact match all the same; this is the other score.
"""

from __future__ import annotations

from typing import final

from daxy.metrics._metric import Accepted


@final
class Executes(Accepted):
    """The share of predictions that bring about the command's effect in its manner."""

    name = "executes"
    summary = "the actions have the command's effect, in its manner, on any path"


METRIC = Executes()
