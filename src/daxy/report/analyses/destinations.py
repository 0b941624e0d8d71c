"""gSCAN: where the agent ends up (Ruis et al. 2020, Experiment D).

In this experiment networks do nothing exactly right, and yet they mostly end in the right row or
column. The paper says the target's row or column. The authors' code compares with the agent's cell
after the demonstration, which differs if the target is pushed or pulled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Sequences
from daxy.core.summary import Summary
from daxy.report.analysis import AnalysisResult, DataAnalysis, Row
from daxy.report.evaluated_runs import evaluated_in_worlds
from daxy.runs.folder import RunFolder
from daxy.worlds.columns import Worlds
from daxy.worlds.grid import ACTIONS

LINES = ("row", "column", "row or column")
RIGHT, TARGETS = "right", "target's"
"""Final cell of a right agent, and initial cell of the target."""


@final
class Destinations(DataAnalysis):
    """How often the agent ends in the right cell, in line with it, or with the target."""

    name = "destinations"

    def run(self, folders: Sequence[RunFolder], selection: Sequence[str] = ()) -> AnalysisResult:
        """Return shares of episodes by final cell; the target's is its initial cell."""
        runs = evaluated_in_worlds(folders, selection, self.official)
        worlds = runs.columns.worlds
        targets = worlds.target_cells
        right = destinations(worlds, runs.examples.target)
        ends = [destinations(worlds, outputs) for outputs in runs.predictions]
        matches = [
            {
                f"{RIGHT} cell": (cells == right).all(axis=1),
                **_in_line(RIGHT, cells == right),
                **_in_line(TARGETS, cells == targets),
            }
            for cells in ends
        ]
        rows = tuple(
            Row(
                group=test,
                name=name,
                examples=int((runs.test == test).sum()),
                value=Summary(
                    runs=tuple(100 * float(own[name][runs.test == test].mean()) for own in matches)
                ),
            )
            for test in runs.tests
            for name in matches[0]
        )
        title = f"{runs.task}: ends in the"
        return AnalysisResult(title=title, rows=rows, measure="ends there (%)")


def destinations(worlds: Worlds, actions: Sequences) -> NDArray[np.int64]:
    """Return the cell of the agent after actions, [count, 2]; an unknown action does nothing."""
    cells = np.zeros((len(worlds), 2), np.int64)
    for row, (world, tokens) in enumerate(zip(worlds, actions, strict=True)):
        *_, last = world.course([token for token in tokens if token in ACTIONS])
        cells[row] = last.agent
    return cells


def _in_line(whose: str, same: NDArray[np.bool_]) -> dict[str, NDArray[np.bool_]]:
    """Return where rows, columns, and either are the same."""
    row, column = same.T
    names = (f"{whose} {line}" for line in LINES)
    return dict(zip(names, (row, column, row | column), strict=True))


ANALYSIS = Destinations()
