"""Commands and their worlds for episodes: from examples, or drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from daxy.core.errors import WrongRequest, require
from daxy.core.examples import Examples
from daxy.languages import grounded
from daxy.languages.grounded import Command
from daxy.worlds.columns import worlds_of
from daxy.worlds.execution import spins_after
from daxy.worlds.grid import LARGEST
from daxy.worlds.placement import Situations, draw_situations, place_objects, possible_targets
from daxy.worlds.referents import referents
from daxy.worlds.world import World

LEAST = 4
"""Cells along a side of the smallest grid with room for any command."""
NO_COMMAND = -1


class Episode(NamedTuple):
    """A command and its world."""

    command: Command
    world: World
    spin_after: bool = False
    """Whether spins come after each step, as in the example."""


class Episodes:
    """Source of commands and worlds: examples or draws."""

    def __init__(
        self, size: int, examples: Examples | None = None, things: int | None = None
    ) -> None:
        """Choose the source.

        Args:
            size: Cells along a side of the grids.
            examples: Source of the episodes; by default, all commands and worlds.
            things: Maximum number of things in a world; by default, any number.

        Raises:
            WrongRequest: there are no examples, or their grids have another size; or one has no
                command, no referent, several referents, or too many things.
        """
        if examples is None:
            # A command with a size has twelve things, and the agent may have a cell of its own.
            least, most = LEAST, LARGEST
            fits = f"a grid that commands are drawn for has {least} to {most} cells along a side"
            require(least <= size <= most, f"{fits}, not {size}")
        else:
            worlds = worlds_of(examples)
            require(len(examples) > 0, "there are no examples to draw from")
            other = f"the grids of the examples are not all of {size} by {size}"
            require(bool((worlds.size == size).all()), other)
            _check_playable(examples, things)
        self.size = size
        self.examples = examples

    def __call__(self, draw: np.random.Generator, number: int | None = None) -> Episode:
        """Return the episode of an example with this number, or a drawn one.

        Raises:
            WrongRequest: there is no such example.
        """
        if self.examples is None:
            require(number is None, "only an environment with examples has an example of a number")
            return self._drawn(draw)
        count = len(self.examples)
        chosen = int(draw.integers(count)) if number is None else number
        require(0 <= chosen < count, f"there are examples 0 to {count - 1}, and no {chosen}")
        command = grounded.parse(self.examples.source[chosen])
        after = spins_after(command, self.examples.target[chosen])
        return Episode(command, worlds_of(self.examples)[chosen], after)

    def _drawn(self, draw: np.random.Generator) -> Episode:
        commands = grounded.commands()
        command = commands[int(draw.integers(len(commands)))]
        things = list(possible_targets(command.phrase))
        thing = things[int(draw.integers(len(things)))]
        every = draw_situations(self.size, 1, draw)
        row = draw.integers(len(every), size=1)
        where = Situations(every.agent[row], every.target[row])
        return Episode(command, place_objects(command.phrase, thing, where, self.size, draw)[0])


def _check_playable(examples: Examples, things: int | None) -> None:
    """Refuse an example without a referent or with too many things; name the first."""
    index, worlds = grounded.command_indices(), worlds_of(examples)
    numbers = (index.get(words, NO_COMMAND) for words in examples.source)
    commands = np.fromiter(numbers, np.int64, len(examples))
    known, counts = commands != NO_COMMAND, np.diff(worlds.offsets)
    targets = referents(np.where(known, commands, 0), worlds)
    right = known & (targets >= 0) & (things is None or counts <= things)
    if right.all():
        return
    row = int(right.argmin())
    try:
        command = grounded.parse(examples.source[row])
        grounded.referent(command.phrase, worlds[row].things)
        wrong = f"its world has {counts[row]} things; there can be {things} here"
    except WrongRequest as error:
        wrong = str(error)
    raise WrongRequest(f"example {row} cannot be played: {wrong}")
