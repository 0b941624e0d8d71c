"""Where the agent ends up (Ruis et al. 2020, Experiment D).

There networks do nothing exactly right, and yet end up in the target's row or column more often
than not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Sequences
from daxy.core.summary import Summary
from daxy.experiments.run_folder import RunFolder
from daxy.report.analyses._analysis import Analysis, Findings, Row
from daxy.report.analyses._grounded import asked_in_worlds
from daxy.worlds.columns import Worlds
from daxy.worlds.grid import ACTIONS

PLACES = ("its row", "its column", "its row or column", "its cell")


@final
class Destinations(Analysis):
    """How often the agent ends up where a right one does, or in line with it."""

    name = "destinations"
    summary = "gSCAN: where the agent ends up (Ruis et al. 2020, Experiment D)"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return the share that ends in the right row, column and cell, test by test."""
        found = asked_in_worlds(folders, of)
        worlds = found.examples.worlds
        wanted = destinations(worlds, found.examples.target)
        same = [destinations(worlds, said) == wanted for said in found.predictions]
        rows = list[Row]()
        for test in found.tests:
            is_here = found.test == test
            for place, name in enumerate(PLACES):
                shares = tuple(100 * float(_in_line(own[is_here])[place].mean()) for own in same)
                value = Summary(runs=shares)
                rows.append(Row(group=test, name=name, examples=int(is_here.sum()), value=value))
        return Findings(
            title=f"{found.found.task}: ends where it should, in",
            rows=tuple(rows),
            measure="ends there (%)",
        )


def destinations(worlds: Worlds, actions: Sequences) -> NDArray[np.int64]:
    """Return the cell of the agent after actions, [count, 2]; what is no action does nothing."""
    ends = np.zeros((len(worlds), 2), np.int64)
    for place, (world, done) in enumerate(zip(worlds, actions, strict=True)):
        known = [action for action in done if action in ACTIONS]
        *_, last = world.course(known)
        ends[place] = last.agent
    return ends


def _in_line(same: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], ...]:
    """Return where rows, columns, either and both are the same."""
    row, column = same.T
    return row, column, row | column, row & column


ANALYSIS = Destinations()
