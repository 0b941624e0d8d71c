"""Many worlds as columns."""

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
from daxy.worlds.grid import CHANNELS, HEADINGS, GridCell, Placed
from daxy.worlds.world import World

Bytes = NDArray[np.uint8]

KINDS = (len(SHAPES), len(COLORS), len(SIZES))
THINGS = 1 + len(SHAPES) * len(COLORS) * len(SIZES)
"""Number of contents of a cell without the agent: nothing or a thing."""


@dataclass(frozen=True, eq=False)
class Worlds(Sequence[World], Brief):
    """A table of worlds. Efforts of half-done pushes are not stored."""

    size: Bytes
    """Cells along a side: shape [count]."""
    agent: Bytes
    """Row and column: [count, 2]."""
    heading: Bytes
    """[count]; see `daxy.worlds.grid.HEADINGS`."""
    things: Bytes
    """Indices in `SHAPES`, `COLORS` and `SIZES`: [things, 3]. A world's first is its target."""
    cells: Bytes
    """Row and column of each thing: [things, 2]."""
    offsets: NDArray[np.int64]
    """Start of each world's things, and the end of the last: [count + 1]."""

    @classmethod
    def of(cls, worlds: Iterable[World]) -> Self:
        """Build the table.

        Raises:
            WrongRequest: one of them is no world, or has an effort.
        """
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
        """Concatenate tables."""
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
            return self._slice(rows) if rows.step == 1 else self.take(rows)
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        things = slice(int(self.offsets[index]), int(self.offsets[index + 1]))
        pairs = zip(self.things[things].tolist(), self.cells[things].tolist(), strict=True)
        placed = (Placed(thing_of(code), GridCell(*cell)) for code, cell in pairs)
        agent, heading = GridCell(*self.agent[index].tolist()), int(self.heading[index])
        return World(int(self.size[index]), agent, tuple(placed), heading)

    @cached_property
    def target_rows(self) -> NDArray[np.int64]:
        """Row of each world's target in `things` and `cells`: [count].

        Raises:
            WrongRequest: a world has no things, and so no target.
        """
        empty = np.flatnonzero(np.diff(self.offsets) == 0).tolist()
        none = f"the world of example {min(empty, default=0)} has no things, and so no target"
        require(not empty, none)
        return self.offsets[:-1]

    @property
    def targets(self) -> Bytes:
        """The target of each world, as in `things`: [count, 3]."""
        return self.things[self.target_rows]

    @property
    def target_cells(self) -> Bytes:
        """Row and column of each target: [count, 2]."""
        return self.cells[self.target_rows]

    @property
    def cell_ids(self) -> Bytes:
        """Content of each cell as an index in `CELL_FEATURES`: [count, row, column].

        Raises:
            WrongRequest: the grids differ in size.
        """
        size = int(self.size.max(initial=1))
        require(bool((self.size == self.size[:1]).all()), "maps are of grids of one size")
        ids = np.zeros((len(self), size, size), np.uint8)
        owners = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        things = np.ravel_multi_index(tuple(self.things.T.astype(np.int64)), KINDS)
        ids[owners, *self.cells.T] = 1 + things
        ids[np.arange(len(self)), *self.agent.T] += THINGS * (1 + self.heading)
        return ids

    @property
    def tensors(self) -> Bytes:
        """State tensors: [count, row, column, channel]; see `CHANNELS`."""
        return CELL_FEATURES[self.cell_ids]

    @property
    def observations(self) -> GridObservations:
        """The observations of networks."""
        return GridObservations(self.cell_ids, CELL_FEATURES)

    @property
    def arrow_columns(self) -> dict[str, Any]:
        """Columns of an Arrow table, by name; see `daxy.worlds.arrow`."""
        from daxy.worlds.arrow import columns

        return columns(self)

    @property
    def content(self) -> Iterator[bytes]:
        """Bytes for a checksum; the order of a world's things does not count."""
        yield from self._bytes
        yield self.offsets.astype("<i8").tobytes()

    @cached_property
    def _bytes(self) -> tuple[bytes, bytes]:
        """Bytes of agents (size, cell, heading) and things (cell, shape, color, size), by cell."""
        owners = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        rows, columns = self.cells.T
        order = np.argsort((owners << 16) + (rows.astype(np.int64) << 8) + columns)
        things = np.concatenate([self.cells, self.things], axis=1)[order]
        agents = np.column_stack([self.size, self.agent, self.heading])
        return agents.tobytes(), things.tobytes()

    @property
    def contents(self) -> Iterator[bytes]:
        """Bytes of each world, equal for equal worlds only."""
        agents, things = self._bytes
        for index, (start, end) in enumerate(pairwise((5 * self.offsets).tolist())):
            yield agents[4 * index : 4 * index + 4] + things[start:end]

    def _slice(self, rows: range) -> Self:
        """Return consecutive worlds as views of these columns."""
        worlds = slice(rows.start, max(rows.start, rows.stop))
        offsets = self.offsets[worlds.start : worlds.stop + 1]
        return self._select(worlds, slice(offsets[0], offsets[-1]), offsets - offsets[0])

    def take(self, rows: NDArray[np.integer] | Sequence[int]) -> Self:
        """Return the worlds at these positions, in this order, repeats included."""
        rows = np.asarray(rows, np.int64)
        counts = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
        return self._select(rows, np.repeat(self.offsets[:-1][rows], counts) + within, offsets)

    def _select(self, rows: Any, things: Any, offsets: NDArray[np.int64]) -> Self:
        agents = self.size[rows], self.agent[rows], self.heading[rows]
        return type(self)(*agents, self.things[things], self.cells[things], offsets)


def worlds_of(examples: Examples) -> Worlds:
    """Return the worlds of examples.

    Raises:
        WrongRequest: they have none.
    """
    if not isinstance(examples.worlds, Worlds):
        raise WrongRequest("the examples have no worlds")
    return examples.worlds


def _cell_features() -> Bytes:
    cells = np.zeros((THINGS * (1 + len(HEADINGS)), len(CHANNELS)), np.uint8)
    place = {channel: number for number, channel in enumerate(CHANNELS)}
    for number, code in enumerate(np.ndindex(*KINDS), 1):
        cells[number::THINGS, [place[value] for value in thing_of(code)]] = 1
    for number, heading in enumerate(HEADINGS, 1):
        with_agent = slice(THINGS * number, THINGS * (number + 1))
        cells[with_agent, [place["agent"], place[heading]]] = 1
    return cells


def code_of(thing: Thing) -> tuple[int, int, int]:
    """Return the indices of a thing, as in `Worlds.things`."""
    return SHAPES.index(thing.shape), COLORS.index(thing.color), SIZES.index(thing.size)


def code_number(thing: Thing) -> int:
    """Return the id of a cell with a thing."""
    return 1 + int(np.ravel_multi_index(code_of(thing), KINDS))


def thing_of(code: Sequence[int]) -> Thing:
    """Return the thing with these indices."""
    shape, color, size = code
    return Thing(SHAPES[shape], COLORS[color], SIZES[size])


CELL_FEATURES = _cell_features()
"""Input features of a cell by its id: [id, channel]."""
