"""Every command of gSCAN in every situation: what its splits are cut from (Ruis et al. 2020, 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import require
from daxy.core.examples import Examples, Sequences
from daxy.core.random import stream
from daxy.core.workers import spread
from daxy.languages import grounded
from daxy.languages.grounded import COLORS, SHAPES, SIZES, Command, Thing
from daxy.tasks._gscan_options import GscanOptions, Kind
from daxy.worlds.columns import Worlds, worlds_of
from daxy.worlds.demonstrated import demonstrated
from daxy.worlds.placement import (
    DIRECTIONS,
    Situations,
    count_of_situations,
    shown,
    situations,
    targets,
)

MOST = 20_000_000
"""Examples that are made at most."""
SHARD = 45
"""Pairs of a command and a target that are made together."""


@dataclass(frozen=True, eq=False)
class Demonstrations:
    """Commands, each shown in a world, as columns."""

    command: NDArray[np.uint16]
    """Place in `grounded.commands()`."""
    worlds: Worlds
    """The first thing of each is the target."""
    actions: Sequences

    @classmethod
    def of(cls, examples: Examples) -> Demonstrations:
        """Return examples whose first things are the targets.

        Raises:
            WrongRequest: they have no worlds.
        """
        places = grounded.places()
        commands = np.fromiter(map(places.__getitem__, examples.source), np.uint16, len(examples))
        return cls(commands, worlds_of(examples), examples.target)

    @classmethod
    def joined(cls, parts: Sequence[Demonstrations]) -> Demonstrations:
        """Return the examples of all parts, one after another."""
        return cls(
            np.concatenate([part.command for part in parts]),
            Worlds.joined([part.worlds for part in parts]),
            Sequences.joined([part.actions for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.command)

    def take(self, rows: NDArray[np.integer]) -> Demonstrations:
        """Return the examples at these positions, in this order, repeats included."""
        return Demonstrations(self.command[rows], self.worlds.take(rows), self.actions.take(rows))

    @property
    def examples(self) -> Examples:
        """The commands said, in their worlds, with the actions."""
        said = Sequences.of(map(grounded.say, grounded.commands())).take(self.command)
        return Examples(said, self.actions, self.worlds)

    @property
    def targets(self) -> NDArray[np.uint8]:
        """What each command speaks of: [count, 3], as `Worlds` has things."""
        return self.worlds.things[self.worlds.offsets[:-1]]

    @property
    def ways(self) -> NDArray[np.int64]:
        """Rows and columns from the agent to the target: [count, 2]."""
        cells = self.worlds.cells[self.worlds.offsets[:-1]]
        return cells.astype(np.int64) - self.worlds.agent

    @property
    def directions(self) -> NDArray[np.int64]:
        """Where the target is, seen from the agent: place in `DIRECTIONS`, [count]."""
        places = np.zeros((3, 3), np.int64)
        for place, (rows, columns) in enumerate(DIRECTIONS.values()):
            places[rows + 1, columns + 1] = place
        rows, columns = (np.sign(self.ways) + 1).T
        return places[rows, columns]

    @property
    def alike(self) -> NDArray[np.int64]:
        """A number that examples of one command, one target cell and the same actions share.

        A command and a way to the target leave one thing open about the actions: how often
        something is pushed or pulled, and so how many they are decides.
        """
        cells = self.worlds.cells[self.worlds.offsets[:-1]].astype(np.int64)
        parts = (
            self.command.astype(np.int64),
            *cells.T,
            *(self.ways.T + 256),
            self.actions.lengths,
        )
        return np.ravel_multi_index(parts, (1024, 256, 256, 512, 512, 1 << 16))


def commands_of(kind: Kind) -> list[int]:
    """Return the places of a kind's commands in `grounded.commands()`."""
    return [place for place, each in enumerate(grounded.commands()) if _is_of(each, kind)]


def _is_of(command: Command, kind: Kind) -> bool:
    adjectives = (command.phrase.color is not None) + (command.phrase.size is not None)
    simple = command.manner is None and adjectives <= 1
    return {
        "adverb": True,
        "normal": command.manner is None,
        "simple_trans": simple,
        "simple_intrans": simple and command.verb == "walk",
    }[kind]


def generate_all(data: GscanOptions) -> Demonstrations:
    """Return every command of a kind in every situation of every thing that it can speak of.

    Raises:
        WrongRequest: the grid has no room for what has to stand around.
        RunFailed: a worker did not start, or was killed.
    """
    pairs = [
        (place, thing)
        for place in commands_of(data.kind)
        for thing in targets(grounded.commands()[place].phrase)
    ]
    _check_count(data, len(pairs))
    shards = [(data, pairs[first : first + SHARD]) for first in range(0, len(pairs), SHARD)]
    if data.workers == 1:
        return Demonstrations.joined([_shard(*shard) for shard in shards])
    return Demonstrations.joined(spread(min(data.workers, len(shards)), _shard, shards))


def _check_count(data: GscanOptions, pairs: int) -> None:
    """Refuse more examples than `MOST`, before any is made."""
    count = pairs * count_of_situations(data.grid, data.resampling)
    many = f"a grid of {data.grid} and a resampling of {data.resampling:,} make {count:,} examples"
    require(count <= MOST, f"{many}; expected at most {MOST:,}")


def _shard(data: GscanOptions, pairs: Sequence[tuple[int, Thing]]) -> Demonstrations:
    return Demonstrations.joined([_pair(data, *pair) for pair in pairs])


def _pair(data: GscanOptions, place: int, target: Thing) -> Demonstrations:
    """Return a command in every situation of a thing."""
    command = grounded.commands()[place]
    where = situations_of(data.grid, data.resampling, data.seed, target)
    words = " ".join(grounded.say(command))
    draw = stream(data.seed, f"gscan/{data.grid}/{words}, {target}")
    worlds = shown(command.phrase, target, where, data.grid, draw)
    actions = demonstrated(command, target, worlds, spin_after=data.spin == "after")
    return Demonstrations(np.full(len(where), place, np.uint16), worlds, actions)


@lru_cache(maxsize=len(COLORS) * len(SHAPES) * len(SIZES))
def situations_of(grid: int, resampling: int, seed: int, target: Thing) -> Situations:
    """Return the situations of a thing, the same for every command."""
    draw = stream(seed, f"gscan/{grid}/situations of a {target}")
    return situations(grid, resampling, draw)
