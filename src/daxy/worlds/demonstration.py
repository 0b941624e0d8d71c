"""Demonstrations of commands, as in the authors' data.

A demonstration goes along the row first, then along the column. A manner adds actions to every
step, push and pull:

    while spinning   four turns to the left before turning and stepping
    cautiously       once turned, a look to the left and to the right before the step
    hesitantly       a moment of staying after the step
    while zigzagging one step along the row, one along the column, and so on, until in line

The data spin before a step. `spin_after_steps` gives the order of the paper, after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain, pairwise, repeat, zip_longest

from daxy.languages.grounded import Command, referent
from daxy.worlds.grid import (
    EAST,
    LEFT,
    NORTH,
    PULL,
    PUSH,
    RIGHT,
    SOUTH,
    STAY,
    WALK,
    WEST,
    Grid,
    GridCell,
)

Actions = tuple[str, ...]

SPIN = (LEFT,) * 4
LOOK = (LEFT, RIGHT, RIGHT, LEFT)
TURNS: tuple[Actions, ...] = ((), (RIGHT,), (LEFT, LEFT), (LEFT,))
"""Turns by a number of quarters clockwise."""


def demonstrate(command: Command, world: Grid) -> Actions:
    """Return the authors' actions for a command.

    Raises:
        NoReferent: the command has no referent, or several.
    """
    thing, cell = world.placed[referent(command.phrase, world.things)]
    way = cell.row - world.agent.row, cell.column - world.agent.column
    moves = 0
    if command.verb != "walk":
        *_, last = (world.heading, *headings(command.manner, way))
        heading = last if command.verb == "push" else last + 2
        moves = thing.weight * free_cells(world, cell, heading)
    return actions(command.verb, command.manner, way, world.heading, moves)


@cache
def actions(
    verb: str, manner: str | None, way: tuple[int, int], heading: int, moves: int
) -> Actions:
    """Return the authors' actions.

    Args:
        verb: Verb of the command.
        manner: Its manner.
        way: Rows south and columns east from the agent to the target.
        heading: Initial heading of the agent.
        moves: Number of pushes or pulls.
    """
    route = headings(manner, way)
    walked = chain.from_iterable(
        with_manner(manner, WALK, TURNS[(after - before) % 4])
        for before, after in pairwise((heading, *route))
    )
    moved = with_manner(manner, PUSH if verb == "push" else PULL)
    return (*walked, *moved * moves)


def headings(manner: str | None, way: tuple[int, int]) -> tuple[int, ...]:
    """Return the heading of each step of the authors' path."""
    row, column = way
    along_row = repeat(EAST if column > 0 else WEST, abs(column))
    along_column = repeat(SOUTH if row > 0 else NORTH, abs(row))
    if manner != "while zigzagging":
        return (*along_row, *along_column)
    pairs = chain.from_iterable(zip_longest(along_row, along_column))
    return tuple(heading for heading in pairs if heading is not None)


def with_manner(manner: str | None, action: str, turns: Actions = ()) -> Actions:
    """Return a step, a push or a pull in a manner, after turning."""
    match manner:
        case "while spinning":
            return (*SPIN, *turns, action)
        case "cautiously":
            return (*turns, *LOOK, action)
        case "hesitantly":
            return (*turns, action, STAY)
        case _:
            return (*turns, action)


def spin_after_steps(actions: Sequence[str]) -> Actions:
    """Return actions that spin before each step with the spins after it, as in the paper."""
    return (*actions[len(SPIN) :], *actions[: len(SPIN)])


def spin_before_steps(actions: Sequence[str]) -> Actions:
    """Return actions that spin after each step with the spins before it, as in the data."""
    return (*actions[-len(SPIN) :], *actions[: -len(SPIN)])


def free_cells(world: Grid, cell: GridCell, heading: int) -> int:
    """Return the number of cells that a thing on a cell can be moved in a direction."""
    cells = 0
    while world.is_free(cell := cell.towards(heading)):
        cells += 1
    return cells
