"""States of the gSCAN grid and the effects of actions (Ruis et al. 2020, section 3).

Cells are (row, column) from 0; rows grow southwards. The agent stands on a cell, on top of a thing
if there is one. Two things never share a cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple, Self

from daxy.core.display import Brief
from daxy.core.errors import WrongRequest, quote, require
from daxy.languages.grounded import COLORS, SHAPES, SIZES, Thing

WALK, PUSH, PULL, STAY, LEFT, RIGHT = "walk", "push", "pull", "stay", "turn left", "turn right"
ACTIONS = (WALK, PUSH, PULL, STAY, LEFT, RIGHT)
MOVES = (WALK, PUSH, PULL)
"""Actions that can move the agent."""
HEADINGS = ("east", "south", "west", "north")
EAST, SOUTH, WEST, NORTH = range(4)
"""Clockwise: a right turn adds one."""

STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""Rows and columns of a step, by heading."""

LARGEST = 255
"""Maximum number of cells along a side."""
CHANNELS = (*SIZES, *SHAPES, *COLORS, "agent", *HEADINGS)
"""Channels of the state tensor: size, shape and color of a thing, the agent and its heading."""


class GridCell(NamedTuple):
    """Row and column of a cell, from 0."""

    row: int
    column: int

    def towards(self, heading: int) -> GridCell:
        """Return the next cell in a direction, inside the grid or not."""
        rows, columns = STEPS[heading % 4]
        return GridCell(self.row + rows, self.column + columns)


class Placed(NamedTuple):
    """A thing and its cell."""

    thing: Thing
    cell: GridCell


class Effort(NamedTuple):
    """Pushes or pulls of the thing below the agent that have not moved it yet."""

    heading: int
    """Direction of the move."""
    times: int


@dataclass(frozen=True)
class Grid(Brief):
    """State of the grid; actions return new ones."""

    size: int
    """Cells along a side."""
    agent: GridCell
    placed: tuple[Placed, ...] = ()
    heading: int = EAST
    effort: Effort | None = None

    def __post_init__(self) -> None:
        require(self.size > 0, f"a grid has at least one cell, not {self.size} along a side")
        require(self.heading in range(4), f"heading must be 0 to 3, not {self.heading}")
        seen: dict[GridCell, Thing] = {}
        for name, cell in (("the agent", self.agent), *self.placed):
            if not self.holds(cell):
                grid = f"a grid of {self.size} by {self.size}"
                raise WrongRequest(f"{name} is at {tuple(cell)}, outside {grid}")
        for thing, cell in self.placed:
            _check(thing)
            if cell in seen:
                raise WrongRequest(f"a {thing} and a {seen[cell]} share the cell {tuple(cell)}")
            seen[cell] = thing

    def holds(self, cell: GridCell) -> bool:
        """Whether a cell is in the grid."""
        return 0 <= cell.row < self.size and 0 <= cell.column < self.size

    @cached_property
    def occupied(self) -> dict[GridCell, int]:
        """Index in `placed` of the thing on each occupied cell."""
        return {cell: index for index, (_, cell) in enumerate(self.placed)}

    @property
    def target(self) -> Placed:
        """The target of an example's command: the first thing."""
        return self.placed[0]

    @property
    def things(self) -> list[Thing]:
        """The things without their cells."""
        return [thing for thing, _ in self.placed]

    def is_free(self, cell: GridCell) -> bool:
        """Whether a cell is in the grid and has no thing."""
        return self.holds(cell) and cell not in self.occupied

    def after(self, action: str) -> Self:
        """Return the world after an action.

        Walking into a wall and moving a blocked thing have no effect. A heavy thing moves at the
        second push or pull in one direction; turns between the two are allowed, steps are not.

        Raises:
            WrongRequest: there is no such action.
        """
        match action:
            case "turn left":
                return self._with(heading=(self.heading - 1) % 4)
            case "turn right":
                return self._with(heading=(self.heading + 1) % 4)
            case "stay":
                return self
            case "walk":
                cell = self.agent.towards(self.heading)
                return self._with(agent=cell, effort=None) if self.holds(cell) else self
            case "push":
                return self._moved(self.heading)
            case "pull":
                return self._moved((self.heading + 2) % 4)
            case _:
                raise WrongRequest(f"no action {quote(action)}; there are {', '.join(ACTIONS)}")

    def _moved(self, heading: int) -> Self:
        """Return the world after a push or pull of the thing below the agent."""
        index, cell = self.occupied.get(self.agent), self.agent.towards(heading)
        if index is None or not self.is_free(cell):
            return self
        thing = self.placed[index].thing
        before = self.effort.times if self.effort and self.effort.heading == heading else 0
        if before + 1 < thing.weight:
            return self._with(effort=Effort(heading, before + 1))
        placed = (*self.placed[:index], Placed(thing, cell), *self.placed[index + 1 :])
        return self._with(agent=cell, placed=placed, effort=None)

    def _with(self, **changes: Any) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(vars(self) | changes)
        if "placed" in changes:
            other.__dict__.pop("occupied", None)
        return other

    def course(self, actions: Sequence[str]) -> Iterator[Self]:
        """Yield the world before the first action and after each of them."""
        world = self
        yield world
        for action in actions:
            world = world.after(action)
            yield world

    def path(self, actions: Sequence[str]) -> list[GridCell]:
        """Return the cell of the agent before the first action and after each of them."""
        return [world.agent for world in self.course(actions)]

    @property
    def _brief(self) -> str:
        things = f"{len(self.placed)} thing{'s' * (len(self.placed) != 1)}"
        agent = f"agent at {tuple(self.agent)} facing {HEADINGS[self.heading]}"
        return f"{self.size}x{self.size}: {agent}, {things}"


_THINGS = frozenset(Thing(*each) for each in product(SHAPES, COLORS, SIZES))


def _check(thing: Thing) -> None:
    if thing in _THINGS:
        return
    for value, known, name in zip(thing, (SHAPES, COLORS, SIZES), Thing._fields, strict=True):
        require(value in known, f"no {name} {quote(value)}; there are {', '.join(map(str, known))}")
