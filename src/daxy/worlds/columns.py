"""Many worlds as columns: a Python object only for the one that is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from daxy.core.display import Brief
from daxy.core.errors import WrongRequest, quote, require
from daxy.core.examples import Examples, GridObservations
from daxy.languages.grounded import COLORS, SHAPES, SIZES, Thing
from daxy.worlds.grid import CHANNELS, HEADINGS, GridCell, Placed, World

Bytes = NDArray[np.uint8]

KINDS = (len(SHAPES), len(COLORS), len(SIZES))
THINGS = 1 + len(SHAPES) * len(COLORS) * len(SIZES)
"""What can be on a cell beside the agent: nothing, or a thing."""


@dataclass(frozen=True, eq=False)
class Worlds(Sequence[World], Brief):
    """A table of worlds in which nothing has been pushed half-way."""

    size: Bytes
    """Cells along a side: shape [count]."""
    agent: Bytes
    """Row and column: [count, 2]."""
    heading: Bytes
    """[count]; see `daxy.worlds.grid.HEADINGS`."""
    things: Bytes
    """Of all worlds, one after another: place in `SHAPES`, in `COLORS`, in `SIZES`: [things, 3]."""
    cells: Bytes
    """Row and column of each: [things, 2]."""
    offsets: NDArray[np.int64]
    """Where each world's things start, and after the last one where they end: [count + 1]."""

    @classmethod
    def of(cls, worlds: Iterable[World]) -> Self:
        """Build the table."""
        rows: list[Any] = list(worlds)
        other = next((each for each in rows if not isinstance(each, World)), None)
        require(other is None, f"expected worlds, not {quote(other)}")
        halfway = any(world.effort is not None for world in rows)
        require(not halfway, "a table has no worlds in which something is pushed half-way")
        placed = [each for world in rows for each in world.placed]
        counts = [len(world.placed) for world in rows]
        return cls(
            size=np.array([world.size for world in rows], np.uint8),
            agent=np.array([world.agent for world in rows], np.uint8).reshape(-1, 2),
            heading=np.array([world.heading for world in rows], np.uint8),
            things=np.array([code_of(thing) for thing, _ in placed], np.uint8).reshape(-1, 3),
            cells=np.array([cell for _, cell in placed], np.uint8).reshape(-1, 2),
            offsets=np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the worlds of all parts, one after another."""
        columns = {
            each.name: np.concatenate([getattr(part, each.name) for part in parts])
            for each in fields(cls)
            if each.name != "offsets"
        }
        counts = np.concatenate([np.diff(part.offsets) for part in parts])
        return cls(**columns, offsets=np.concatenate([[0], np.cumsum(counts)]))

    def __len__(self) -> int:
        return len(self.size)

    @property
    def _brief(self) -> str:
        sizes = ", ".join(f"{size}x{size}" for size in np.unique(self.size))
        return f"{len(self):,}{f'; {sizes}' if sizes else ''}"

    @overload
    def __getitem__(self, index: int) -> World: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> World | Self:
        if isinstance(index, slice):
            rows = range(len(self))[index]
            return self._stretch(rows) if rows.step == 1 else self.take(rows)
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        own = slice(int(self.offsets[index]), int(self.offsets[index + 1]))
        pairs = zip(self.things[own].tolist(), self.cells[own].tolist(), strict=True)
        placed = (Placed(thing_of(code), GridCell(*cell)) for code, cell in pairs)
        agent, heading = GridCell(*self.agent[index].tolist()), int(self.heading[index])
        return World(int(self.size[index]), agent, tuple(placed), heading)

    @property
    def maps(self) -> Bytes:
        """What is on each cell, in one byte: [count, row, column]; see `CELLS`.

        Raises:
            WrongRequest: the grids are not of one size.
        """
        size = int(self.size.max(initial=1))
        require(bool((self.size == self.size[:1]).all()), "maps are of grids of one size")
        found = np.zeros((len(self), size, size), np.uint8)
        owners = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        things = np.ravel_multi_index(tuple(self.things.T.astype(np.int64)), KINDS)
        found[owners, *self.cells.T] = 1 + things
        found[np.arange(len(self)), *self.agent.T] += THINGS * (1 + self.heading)
        return found

    @property
    def tensors(self) -> Bytes:
        """The states as the models see them: [count, row, column, channel], as `World.tensor`.

        Raises:
            WrongRequest: the grids are not of one size.
        """
        return CELLS[self.maps]

    @property
    def views(self) -> GridObservations:
        """The worlds as networks see them.

        Raises:
            WrongRequest: the grids are not of one size.
        """
        return GridObservations(self.maps, CELLS)

    @property
    def content(self) -> Iterator[bytes]:
        """What the worlds and their order decide, in whatever order the things of each are."""
        yield from self._bytes
        yield self.offsets.astype("<i8").tobytes()

    @cached_property
    def _bytes(self) -> tuple[bytes, bytes]:
        """The agents' bytes, and those of the things.

        Four bytes a world, its size, the agent's row and column and its heading; and five a thing,
        by place: its row, column, shape, color and size.
        """
        owners = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        rows, columns = self.cells.T
        order = np.argsort((owners << 16) + (rows.astype(np.int64) << 8) + columns)
        things = np.concatenate([self.cells, self.things], axis=1)[order]
        agents = np.column_stack([self.size, self.agent, self.heading])
        return agents.tobytes(), things.tobytes()

    @property
    def contents(self) -> Iterator[bytes]:
        """The bytes of each world, which equal worlds alone share."""
        agents, things = self._bytes
        for place, (start, end) in enumerate(pairwise((5 * self.offsets).tolist())):
            yield agents[4 * place : 4 * place + 4] + things[start:end]

    def _stretch(self, rows: range) -> Self:
        """Return consecutive worlds; their columns are these, not copied."""
        own = slice(rows.start, max(rows.start, rows.stop))
        offsets = self.offsets[own.start : own.stop + 1]
        things = slice(offsets[0], offsets[-1])
        return type(self)(
            size=self.size[own],
            agent=self.agent[own],
            heading=self.heading[own],
            things=self.things[things],
            cells=self.cells[things],
            offsets=offsets - offsets[0],
        )

    def take(self, rows: NDArray[np.integer] | Sequence[int]) -> Self:
        """Return the worlds at these positions, in this order, repeats included."""
        rows = np.asarray(rows, np.int64)
        counts = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
        chosen = np.repeat(self.offsets[:-1][rows], counts) + within
        return type(self)(
            size=self.size[rows],
            agent=self.agent[rows],
            heading=self.heading[rows],
            things=self.things[chosen],
            cells=self.cells[chosen],
            offsets=offsets,
        )


def worlds_of(examples: Examples) -> Worlds:
    """Return the worlds of examples.

    Raises:
        WrongRequest: they have none.
    """
    if not isinstance(examples.worlds, Worlds):
        raise WrongRequest("the examples have no worlds")
    return examples.worlds


def _cells() -> Bytes:
    """Return what the models see of a cell, by what a map has there."""
    cells = np.zeros((THINGS * (1 + len(HEADINGS)), len(CHANNELS)), np.uint8)
    place = {channel: number for number, channel in enumerate(CHANNELS)}
    for number, code in enumerate(np.ndindex(*KINDS), 1):
        cells[number::THINGS, [place[value] for value in thing_of(code)]] = 1
    for number, heading in enumerate(HEADINGS, 1):
        own = slice(THINGS * number, THINGS * (number + 1))
        cells[own, [place["agent"], place[heading]]] = 1
    return cells


def code_of(thing: Thing) -> tuple[int, int, int]:
    """Return a thing as the table has it."""
    return SHAPES.index(thing.shape), COLORS.index(thing.color), SIZES.index(thing.size)


def code_number(thing: Thing) -> int:
    """Return the number that maps have for a thing."""
    return 1 + int(np.ravel_multi_index(code_of(thing), KINDS))


def thing_of(code: Sequence[int]) -> Thing:
    """Return the thing that the table has so."""
    shape, color, size = code
    return Thing(SHAPES[shape], COLORS[color], SIZES[size])


CELLS = _cells()
"""What the models see of a cell: [byte of a map, channel]."""
