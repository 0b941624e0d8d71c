"""How a command is carried out, as the authors' demonstrations do it, and whether actions do.

A demonstration goes all the way along the row first, then along the column. With a manner every
step and every push or pull has something around it:

    while spinning   four turns to the left before turning and stepping
    cautiously       once turned, a look to the left and to the right before the step
    hesitantly       a moment of staying after the step
    while zigzagging one step along the row, one along the column, and so on, until in line

The paper says that spinning comes after a step; its data have it before. `spun_after` has it so.
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
    GridCell,
    World,
)

Actions = tuple[str, ...]

SPIN = (LEFT,) * 4
LOOK = (LEFT, RIGHT, RIGHT, LEFT)
TURNS: tuple[Actions, ...] = ((), (RIGHT,), (LEFT, LEFT), (LEFT,))
"""By how many quarters clockwise."""


def demonstrate(command: Command, world: World) -> Actions:
    """Return the authors' actions for a command.

    Raises:
        NoReferent: what the command speaks of is not there, or not one thing.
    """
    thing, cell = world.placed[referent(command.phrase, world.things)]
    way = cell.row - world.agent.row, cell.column - world.agent.column
    moves = 0
    if command.verb != "walk":
        *_, last = (world.heading, *headings(command.manner, way))
        heading = last if command.verb == "push" else last + 2
        moves = thing.weight * room(world, cell, heading)
    return actions(command.verb, command.manner, way, world.heading, moves)


@cache
def actions(
    verb: str, manner: str | None, way: tuple[int, int], heading: int, moves: int
) -> Actions:
    """Return the authors' actions for a way of so many rows south and columns east.

    Args:
        verb: What is to be done with what is at the end of the way.
        manner: How.
        way: Rows and columns.
        heading: Where the agent faces at first.
        moves: How often what is there is pushed or pulled.
    """
    route = headings(manner, way)
    walked = chain.from_iterable(
        with_manner(manner, WALK, TURNS[(after - before) % 4])
        for before, after in pairwise((heading, *route))
    )
    moved = with_manner(manner, PUSH if verb == "push" else PULL)
    return (*walked, *moved * moves)


def headings(manner: str | None, way: tuple[int, int]) -> tuple[int, ...]:
    """Return the heading of each step of the authors' way."""
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


def spun_after(done: Sequence[str]) -> Actions:
    """Return actions that spin before each step as they would spin after it: as the paper says."""
    return (*done[len(SPIN) :], *done[: len(SPIN)])


def spun_before(done: Sequence[str]) -> Actions:
    """Return actions that spin after each step as they would spin before it: as the data do."""
    return (*done[-len(SPIN) :], *done[: -len(SPIN)])


def room(world: World, cell: GridCell, heading: int) -> int:
    """Return by how many cells the thing on a cell can be moved in a direction."""
    cells = 0
    while world.is_free(cell := cell.towards(heading)):
        cells += 1
    return cells
