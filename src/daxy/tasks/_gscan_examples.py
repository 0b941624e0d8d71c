"""Demonstrations of every gSCAN command in every situation (Ruis et al. 2020, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import require
from daxy.core.examples import Examples, Sequences
from daxy.core.random import stream
from daxy.core.workers import map_in_processes
from daxy.languages import grounded
from daxy.languages.grounded import COLORS, SHAPES, SIZES, Command, Thing
from daxy.tasks._gscan_options import GscanOptions, Kind
from daxy.worlds.batch_demonstration import demonstrate_everywhere
from daxy.worlds.columns import Worlds, worlds_of
from daxy.worlds.placement import (
    DIRECTIONS,
    Situations,
    count_of_situations,
    draw_situations,
    place_objects,
    possible_targets,
)

MOST = 20_000_000
"""Maximum number of generated examples."""
SHARD = 45
"""Pairs of a command and a target in one unit of work."""


@dataclass(frozen=True, eq=False)
class Demonstrations:
    """Demonstrated commands in worlds, as columns."""

    command: NDArray[np.uint16]
    """Index in `grounded.commands()`: [count]."""
    worlds: Worlds
    actions: Sequences

    @classmethod
    def of(cls, examples: Examples) -> Demonstrations:
        """Return the table of some examples.

        Raises:
            WrongRequest: they have no worlds.
        """
        index = grounded.command_indices()
        commands = np.fromiter(map(index.__getitem__, examples.source), np.uint16, len(examples))
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
        """The same as examples."""
        source = Sequences.of(map(grounded.say, grounded.commands())).take(self.command)
        return Examples(source, self.actions, self.worlds)

    @property
    def target_offsets(self) -> NDArray[np.int64]:
        """Rows and columns from the agent to the target: [count, 2]."""
        return self.worlds.target_cells.astype(np.int64) - self.worlds.agent

    @property
    def directions(self) -> NDArray[np.int64]:
        """Direction of the target from the agent, as index in `DIRECTIONS`: [count]."""
        index = np.zeros((3, 3), np.int64)
        for number, (rows, columns) in enumerate(DIRECTIONS.values()):
            index[rows + 1, columns + 1] = number
        rows, columns = (np.sign(self.target_offsets) + 1).T
        return index[rows, columns]

    @property
    def duplicate_ids(self) -> NDArray[np.int64]:
        """A number shared by examples with the same command, target cell and actions: [count].

        Given the command and the offset of the target, only the number of pushes or pulls is open,
        so that the length of the actions stands for the actions.
        """
        cells = self.worlds.target_cells.astype(np.int64)
        columns = (self.command.astype(np.int64), *cells.T, *(self.target_offsets.T + 256))
        sizes = (1024, 256, 256, 512, 512, 1 << 16)
        return np.ravel_multi_index((*columns, self.actions.lengths), sizes)


def commands_of(kind: Kind) -> list[int]:
    """Return the indices of a kind's commands in `grounded.commands()`."""
    return [index for index, each in enumerate(grounded.commands()) if _is_of(each, kind)]


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
    """Return every command of a kind in every situation of each possible target.

    Raises:
        WrongRequest: the grid has no room for the distractors.
        RunFailed: a worker did not start or was killed.
    """
    pairs = [
        (index, thing)
        for index in commands_of(data.kind)
        for thing in possible_targets(grounded.commands()[index].phrase)
    ]
    _check_count(data, len(pairs))
    shards = [(data, pairs[first : first + SHARD]) for first in range(0, len(pairs), SHARD)]
    if data.workers == 1:
        return Demonstrations.joined([_shard(*shard) for shard in shards])
    return Demonstrations.joined(map_in_processes(min(data.workers, len(shards)), _shard, shards))


def _check_count(data: GscanOptions, pairs: int) -> None:
    count = pairs * count_of_situations(data.grid, data.resampling)
    many = f"a grid of {data.grid} and a resampling of {data.resampling:,} make {count:,} examples"
    require(count <= MOST, f"{many}; expected at most {MOST:,}")


def _shard(data: GscanOptions, pairs: Sequence[tuple[int, Thing]]) -> Demonstrations:
    return Demonstrations.joined([_pair(data, *pair) for pair in pairs])


def _pair(data: GscanOptions, index: int, target: Thing) -> Demonstrations:
    command = grounded.commands()[index]
    where = situations_of(data.grid, data.resampling, data.seed, target)
    words = " ".join(grounded.say(command))
    draw = stream(data.seed, f"gscan/{data.grid}/{words}, {target}")
    worlds = place_objects(command.phrase, target, where, data.grid, draw)
    actions = demonstrate_everywhere(command, target, worlds, spin_after=data.spin == "after")
    return Demonstrations(np.full(len(where), index, np.uint16), worlds, actions)


@lru_cache(maxsize=len(COLORS) * len(SHAPES) * len(SIZES))
def situations_of(grid: int, resampling: int, seed: int, target: Thing) -> Situations:
    """Return the situations of a target, the same for every command."""
    draw = stream(seed, f"gscan/{grid}/situations of a {target}")
    return draw_situations(grid, resampling, draw)
