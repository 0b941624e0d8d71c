"""The authors' demonstrations in many worlds at a time.

What a demonstration is depends on the way to the target and on how far that can be moved, and there
are few such cases: each is demonstrated once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Sequences
from daxy.languages import grounded
from daxy.languages.grounded import Command, Thing
from daxy.worlds.columns import Worlds, thing_of
from daxy.worlds.demonstration import actions, spun_after
from daxy.worlds.grid import ACTIONS, STEPS

SYMBOLS = tuple(sorted(ACTIONS))
"""The dictionary of all demonstrations."""


def demonstrated(
    command: Command, target: Thing, worlds: Worlds, *, spin_after: bool = False
) -> Sequences:
    """Return the actions in each world.

    Args:
        command: What is asked for.
        target: What its phrase speaks of: the first thing of every world.
        worlds: Of one size, with as many things each, the agent facing in one direction.
        spin_after: Whether spinning comes after a step, as the paper says, not before.
    """
    cells = worlds.cells.reshape(len(worlds), -1, 2).astype(np.int64)
    way = cells[:, 0] - worlds.agent.astype(np.int64)
    verb, manner, heading = command.verb, command.manner, int(worlds.heading[0])
    # Who stands there already goes no way, and faces as before.
    last = np.where(way.any(axis=1, keepdims=True), way, STEPS[heading])
    moves = target.weight * _room(command, last, cells, int(worlds.size[0]))
    cases, which = np.unique(np.column_stack([way, moves]), axis=0, return_inverse=True)
    shown = (
        actions(verb, manner, (row, column), heading, many) for row, column, many in cases.tolist()
    )
    if spin_after and manner == "while spinning":
        shown = map(spun_after, shown)
    return Sequences.of(shown, SYMBOLS).take(which.ravel())


def demonstrations(
    commands: NDArray[np.integer], worlds: Worlds, *, spin_after: bool = False
) -> Sequences:
    """Return the actions for each command in its world.

    Args:
        commands: Places in `grounded.commands()`: [count].
        worlds: As many, of any sizes; the first thing of each is what its command speaks of.
        spin_after: Whether spinning comes after a step, as the paper says, not before.
    """
    first = worlds.things[worlds.offsets[:-1]]
    heavy = first[:, 2] > 1
    kinds = np.column_stack([commands, heavy, np.diff(worlds.offsets), worlds.size, worlds.heading])
    alike, which = np.unique(kinds, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(which.ravel(), minlength=len(alike)))
    parts = list[Sequences]()
    for kind, rows in zip(alike.tolist(), np.split(order, ends)[:-1], strict=True):
        command, target = grounded.commands()[kind[0]], thing_of(first[rows[0]].tolist())
        here = worlds.take(rows)
        parts.append(demonstrated(command, target, here, spin_after=spin_after))
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return Sequences.joined([Sequences.of([], SYMBOLS), *parts]).take(back)


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
