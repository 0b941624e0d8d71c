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
from daxy.report.analyses._analysis import Findings, Row
from daxy.report.analyses._data import OfData
from daxy.report.analyses._grounded import asked_in_worlds
from daxy.worlds.columns import Worlds
from daxy.worlds.grid import ACTIONS

LINES = ("its row", "its column", "its row or column")
"""Of the cell where the target stands at first."""
END = "where a right one ends"
"""With what is pushed or pulled, the agent moves on from there."""


@final
class Destinations(OfData):
    """How often the agent ends up in line with the target, and where a right one does."""

    name = "destinations"
    summary = "gSCAN: where the agent ends up (Ruis et al. 2020, Experiment D)"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return the shares that end in the target's row or column and where they should, by test.

        Where the target stands is where it stood at first.
        """
        found = asked_in_worlds(folders, of, self.official)
        worlds = found.examples.worlds
        targets = worlds.cells[worlds.offsets[:-1]]
        wanted = destinations(worlds, found.examples.target)
        ends = [destinations(worlds, said) for said in found.predictions]
        places = [{**_in_line(own == targets), END: (own == wanted).all(axis=1)} for own in ends]
        rows = list[Row]()
        for test in found.tests:
            is_here = found.test == test
            for name in (*LINES, END):
                value = Summary(
                    runs=tuple(100 * float(own[name][is_here].mean()) for own in places)
                )
                rows.append(Row(group=test, name=name, examples=int(is_here.sum()), value=value))
        return Findings(
            title=f"{found.found.task}: ends in line with the target, in",
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


def _in_line(same: NDArray[np.bool_]) -> dict[str, NDArray[np.bool_]]:
    """Return where rows, columns, and either are the same."""
    row, column = same.T
    return dict(zip(LINES, (row, column, row | column), strict=True))


ANALYSIS = Destinations()
