"""How a command is carried out, as the authors' demonstrations do it, and whether actions do.

A demonstration goes all the way along the row first, then along the column. With a manner every
step and every push or pull has something around it:

    while spinning   four turns to the left before turning and stepping
    cautiously       once turned, a look to the left and to the right before the step
    hesitantly       a moment of staying after the step
    while zigzagging one step along the row, one along the column, and so on, until in line

The paper says that spinning comes after a step; its data have it before.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat, zip_longest

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
    Cell,
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
    row = cell.row - world.agent.row
    column = cell.column - world.agent.column
    route = list(headings(row, column, zigzag=command.manner == "while zigzagging"))
    facing = (world.heading, *route)
    walked = chain.from_iterable(
        with_manner(command.manner, WALK, TURNS[(after - before) % 4])
        for before, after in zip(facing, route, strict=False)
    )
    if command.verb == "walk":
        return tuple(walked)
    heading = facing[-1] if command.verb == "push" else facing[-1] + 2
    moves = thing.weight * room(world, cell, heading)
    moved = with_manner(command.manner, PUSH if command.verb == "push" else PULL)
    return (*walked, *moved * moves)


def headings(row: int, column: int, *, zigzag: bool = False) -> Iterator[int]:
    """Yield the heading of each step of a way that goes `row` cells south and `column` east."""
    along_row = repeat(EAST if column > 0 else WEST, abs(column))
    along_column = repeat(SOUTH if row > 0 else NORTH, abs(row))
    if not zigzag:
        yield from along_row
        yield from along_column
        return
    pairs = zip_longest(along_row, along_column)
    yield from (heading for heading in chain.from_iterable(pairs) if heading is not None)


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


def room(world: World, cell: Cell, heading: int) -> int:
    """Return by how many cells the thing on a cell can be moved in a direction."""
    cells = 0
    while world.is_free(cell := cell.towards(heading)):
        cells += 1
    return cells
