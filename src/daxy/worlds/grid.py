"""The grid of gSCAN as a value, and what each action makes of it (Ruis et al. 2020, section 3).

Cells are (row, column) from 0; rows grow southwards. The agent stands on a cell, on top of a thing
if there is one. Two things never share a cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from daxy.core.display import Brief
from daxy.core.errors import WrongRequest, quote, require
from daxy.languages.grounded import COLORS, SHAPES, SIZES, Command, Thing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WALK, PUSH, PULL, STAY, LEFT, RIGHT = "walk", "push", "pull", "stay", "turn left", "turn right"
ACTIONS = (WALK, PUSH, PULL, STAY, LEFT, RIGHT)
MOVES = (WALK, PUSH, PULL)
"""Those after which the agent may be elsewhere."""
HEADINGS = ("east", "south", "west", "north")
EAST, SOUTH, WEST, NORTH = range(4)
"""Clockwise: a turn to the right is one more."""

STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""Rows and columns of a step, by heading."""

LARGEST = 255
"""Cells along the side of a grid at most."""
CHANNELS = (*SIZES, *SHAPES, *COLORS, "agent", *HEADINGS)
"""Of the state tensor: size, shape and color of a thing, the agent, and where it faces."""


class GridCell(NamedTuple):
    """A place in the grid."""

    row: int
    column: int

    def towards(self, heading: int) -> GridCell:
        """Return the next cell in that direction, in the grid or not."""
        rows, columns = STEPS[heading % 4]
        return GridCell(self.row + rows, self.column + columns)


class Placed(NamedTuple):
    """A thing where it is."""

    thing: Thing
    cell: GridCell


class Effort(NamedTuple):
    """How often what is under the agent has been pushed or pulled without moving yet."""

    heading: int
    """Where it would go."""
    times: int


@dataclass(frozen=True)
class World(Brief):
    """A state of the grid; actions make new ones."""

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
        """The places in `placed` of what is on each cell that is not empty."""
        return {cell: place for place, (_, cell) in enumerate(self.placed)}

    @property
    def things(self) -> list[Thing]:
        """What there is."""
        return [thing for thing, _ in self.placed]

    def is_free(self, cell: GridCell) -> bool:
        """Whether a thing can be moved to a cell: it is in the grid, and empty."""
        return self.holds(cell) and cell not in self.occupied

    def after(self, action: str) -> World:
        """Return the world after an action.

        Walking into the wall and moving what cannot move change nothing. A heavy thing moves by a
        cell at the second push, or pull, in the same direction; looking around between the two is
        allowed, walking is not.

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

    def _moved(self, heading: int) -> World:
        """Return the world after what is under the agent is moved, or an effort is made."""
        place, cell = self.occupied.get(self.agent), self.agent.towards(heading)
        if place is None or not self.is_free(cell):
            return self
        thing = self.placed[place].thing
        before = self.effort.times if self.effort and self.effort.heading == heading else 0
        if before + 1 < thing.weight:
            return self._with(effort=Effort(heading, before + 1))
        placed = (*self.placed[:place], Placed(thing, cell), *self.placed[place + 1 :])
        return self._with(agent=cell, placed=placed, effort=None)

    def _with(self, **changes: Any) -> World:
        """Return this world with other fields, of which nothing has to be checked again."""
        other = object.__new__(World)
        other.__dict__.update(vars(self) | changes)
        if "placed" in changes:
            other.__dict__.pop("occupied", None)
        return other

    def course(self, actions: Sequence[str]) -> Iterator[World]:
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

    def _repr_svg_(self) -> str:
        """Return the picture that a notebook shows."""
        from daxy.worlds.drawing import svg

        return svg(self)

    def demonstrate(self, command: Command) -> tuple[str, ...]:
        """Return the actions that a command asks for here; see `daxy.worlds.demonstration`."""
        from daxy.worlds.demonstration import demonstrate

        return demonstrate(command, self)

    def as_text(self, marked: GridCell | None = None) -> str:
        """Return the world as lines of text, a cell in brackets; see `daxy.worlds.text`."""
        from daxy.worlds.text import as_text

        return as_text(self, marked)

    def picture(self, source: Sequence[str], target: Sequence[str]) -> str:
        """Return an SVG of a command here: the target's frame, the path of actions, a caption.

        A command that refers to no one thing has no frame; an augmented example may have one.
        """
        from daxy.languages.grounded import parse
        from daxy.worlds import drawing

        try:
            return drawing.demonstration(self, parse(source), target).decode()
        except WrongRequest:
            caption = drawing.Caption(command=" ".join(source), actions=target)
            return drawing.svg(self, path=self.path(drawing.known(target)), caption=caption)

    def tensor(self) -> NDArray[np.uint8]:
        """Return the state as the models see it: [row, column, channel], see `CHANNELS`."""
        import numpy as np

        state = np.zeros((self.size, self.size, len(CHANNELS)), np.uint8)
        for thing, cell in self.placed:
            for value in (thing.size, thing.shape, thing.color):
                state[cell][CHANNELS.index(value)] = 1
        state[self.agent][[CHANNELS.index("agent"), CHANNELS.index(HEADINGS[self.heading])]] = 1
        return state


_KNOWN = frozenset(Thing(*each) for each in product(SHAPES, COLORS, SIZES))


def _check(thing: Thing) -> None:
    if thing in _KNOWN:
        return
    for value, known, name in zip(thing, (SHAPES, COLORS, SIZES), Thing._fields, strict=True):
        require(value in known, f"no {name} {quote(value)}; there are {', '.join(map(str, known))}")
