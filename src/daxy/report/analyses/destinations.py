"""gSCAN: where the agent ends up (Ruis et al. 2020, Experiment D).

There networks do nothing exactly right, and yet end up in the right row or column more often than
not. The paper says the target's; the authors' code asks for that of the cell where the agent is
after the demonstration, which with what is pushed or pulled is another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Sequences
from daxy.core.summary import Summary
from daxy.report.analyses._analysis import Findings, Row
from daxy.report.analyses._data import OfData
from daxy.report.analyses._grounded import asked_in_worlds
from daxy.runs.folder import RunFolder
from daxy.worlds.columns import Worlds
from daxy.worlds.grid import ACTIONS

LINES = ("row", "column", "row or column")
RIGHT, TARGETS = "right", "target's"
"""Where a right agent ends, and where the target stands at first."""
CELL = f"{RIGHT} cell"


@final
class Destinations(OfData):
    """How often the agent ends up where a right one does, and in line with that or the target."""

    name = "destinations"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return the shares that end where they should, in line with it, and with the target.

        Where the target stands is where it stood at first.
        """
        found = asked_in_worlds(folders, of, self.official)
        worlds = found.shown.worlds
        targets = worlds.target_cells
        wanted = destinations(worlds, found.examples.target)
        ends = [destinations(worlds, said) for said in found.predictions]
        places = [
            {
                CELL: (own == wanted).all(axis=1),
                **_in_line(RIGHT, own == wanted),
                **_in_line(TARGETS, own == targets),
            }
            for own in ends
        ]
        rows = list[Row]()
        for test in found.tests:
            is_here = found.test == test
            for name in places[0]:
                shares = tuple(100 * float(own[name][is_here].mean()) for own in places)
                value = Summary(runs=shares)
                rows.append(Row(group=test, name=name, examples=int(is_here.sum()), value=value))
        return Findings(
            title=f"{found.found.task}: ends in the",
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


def _in_line(whose: str, same: NDArray[np.bool_]) -> dict[str, NDArray[np.bool_]]:
    """Return where rows, columns, and either are the same."""
    row, column = same.T
    names = (f"{whose} {line}" for line in LINES)
    return dict(zip(names, (row, column, row | column), strict=True))


ANALYSIS = Destinations()
