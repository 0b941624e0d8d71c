"""The authors' demonstrations in many worlds at a time.

What a demonstration is depends on the way to the target and on how far that can be moved, and there
are few such cases: each is demonstrated once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Sequences
from daxy.languages.grounded import Command, Thing
from daxy.worlds.columns import Worlds
from daxy.worlds.demonstration import actions
from daxy.worlds.grid import ACTIONS, EAST

SYMBOLS = tuple(sorted(ACTIONS))
"""The dictionary of all demonstrations."""


def demonstrated(command: Command, target: Thing, worlds: Worlds) -> Sequences:
    """Return the actions in each world.

    Args:
        command: What is asked for.
        target: What its phrase speaks of: the first thing of every world.
        worlds: Of one size, with as many things each, the agent facing east.
    """
    cells = worlds.cells.reshape(len(worlds), -1, 2).astype(np.int64)
    way = cells[:, 0] - worlds.agent.astype(np.int64)
    moves = target.weight * _room(command, way, cells, int(worlds.size[0]))
    cases, which = np.unique(np.column_stack([way, moves]), axis=0, return_inverse=True)
    verb, manner = command.verb, command.manner
    shown = (
        actions(verb, manner, (row, column), EAST, many) for row, column, many in cases.tolist()
    )
    return Sequences.of(shown, SYMBOLS).take(which.ravel())


def _room(
    command: Command, way: NDArray[np.int64], cells: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """Return by how many cells each target can be moved: see `demonstration.room`."""
    if command.verb == "walk":
        return np.zeros(len(way), np.int64)
    # The last step is along the column, unless there is none or the way zigzags on along the row.
    rows, columns = np.abs(way).T
    down = (rows >= columns) if command.manner == "while zigzagging" else (rows > 0)
    signs = np.sign(way) * np.stack([down, ~down], axis=1)
    signs = signs if command.verb == "push" else -signs
    here = cells[:, 0]
    axis = (~down).astype(np.int64)
    sign, place = (np.take_along_axis(each, axis[:, None], 1)[:, 0] for each in (signs, here))
    wall = np.where(sign > 0, size - 1 - place, place)
    away = cells[:, 1:] - here[:, None]
    ahead, aside = (away * signs[:, None]).sum(2), (away * (signs == 0)[:, None]).sum(2)
    gaps = np.where((aside == 0) & (ahead > 0), ahead - 1, size)
    return np.minimum(wall, gaps.min(axis=1, initial=size))
