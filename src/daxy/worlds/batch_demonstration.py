"""Demonstrations in many worlds at a time.

A demonstration depends on the offset of the target and the number of moves. These cases are few,
and each is demonstrated once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Sequences
from daxy.languages import grounded
from daxy.languages.grounded import Command, Thing
from daxy.worlds.columns import Worlds, thing_of
from daxy.worlds.demonstration import actions, spin_after_steps
from daxy.worlds.grid import ACTIONS, STEPS

SYMBOLS = tuple(sorted(ACTIONS))
"""Dictionary of all demonstrations."""


def demonstrate_everywhere(
    command: Command, target: Thing, worlds: Worlds, *, spin_after: bool = False
) -> Sequences:
    """Return the actions for one command and target in each world.

    Args:
        command: The command.
        target: Its target in every world.
        worlds: Worlds of one size, number of things and heading.
        spin_after: Whether spins come after a step, as in the paper.
    """
    cells = worlds.cells.reshape(len(worlds), -1, 2).astype(np.int64)
    way = worlds.target_cells.astype(np.int64) - worlds.agent
    verb, manner, heading = command.verb, command.manner, int(worlds.heading[0])
    # An agent on the target keeps its heading.
    last = np.where(way.any(axis=1, keepdims=True), way, STEPS[heading])
    moves = target.weight * _free_cells(command, last, cells, int(worlds.size[0]))
    cases, which = np.unique(np.column_stack([way, moves]), axis=0, return_inverse=True)
    rows = (
        actions(verb, manner, (row, column), heading, many) for row, column, many in cases.tolist()
    )
    if spin_after and manner == "while spinning":
        rows = map(spin_after_steps, rows)
    return Sequences.of(rows, SYMBOLS).take(which.ravel())


def demonstrate_all(
    commands: NDArray[np.integer], worlds: Worlds, *, spin_after: bool = False
) -> Sequences:
    """Return the actions for each command in its world.

    Args:
        commands: Indices in `grounded.commands()`: [count].
        worlds: As many worlds of any sizes.
        spin_after: Whether spins come after a step, as in the paper.
    """
    targets = worlds.targets
    heavy = targets[:, 2] > 1
    kinds = np.column_stack([commands, heavy, np.diff(worlds.offsets), worlds.size, worlds.heading])
    alike, which = np.unique(kinds, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(which.ravel(), minlength=len(alike)))
    parts = list[Sequences]()
    for kind, rows in zip(alike.tolist(), np.split(order, ends)[:-1], strict=True):
        command, target = grounded.commands()[kind[0]], thing_of(targets[rows[0]].tolist())
        some = worlds.take(rows)
        parts.append(demonstrate_everywhere(command, target, some, spin_after=spin_after))
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return Sequences.joined([Sequences.of([], SYMBOLS), *parts]).take(inverse)


def _free_cells(
    command: Command, way: NDArray[np.int64], cells: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """Return the number of cells that each target can be moved; see `demonstration.free_cells`."""
    if command.verb == "walk":
        return np.zeros(len(way), np.int64)
    # The last step is along the column, unless the path has none or zigzags on along the row.
    rows, columns = np.abs(way).T
    down = (rows >= columns) if command.manner == "while zigzagging" else (rows > 0)
    signs = np.sign(way) * np.stack([down, ~down], axis=1)
    signs = signs if command.verb == "push" else -signs
    target = cells[:, 0]
    axis = (~down).astype(np.int64)[:, None]
    sign, place = (np.take_along_axis(each, axis, 1)[:, 0] for each in (signs, target))
    wall = np.where(sign > 0, size - 1 - place, place)
    away = cells[:, 1:] - target[:, None]
    ahead, aside = (away * signs[:, None]).sum(2), (away * (signs == 0)[:, None]).sum(2)
    gaps = np.where((aside == 0) & (ahead > 0), ahead - 1, size)
    return np.minimum(wall, gaps.min(axis=1, initial=size))
