"""Commands and the worlds that they are said in, one after another: of examples, or drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from daxy.core.errors import WrongRequest, require
from daxy.core.examples import Examples
from daxy.languages import grounded
from daxy.languages.grounded import Command
from daxy.worlds.columns import worlds_of
from daxy.worlds.execution import spins_after
from daxy.worlds.grid import LARGEST, World
from daxy.worlds.placement import Situations, shown, situations, targets
from daxy.worlds.referents import referents

if TYPE_CHECKING:
    from numpy.random import Generator

LEAST = 4
"""Cells along a side of a grid that has room for any command."""
NO_COMMAND = -1


class Episode(NamedTuple):
    """What is said, and where."""

    command: Command
    world: World
    spin_after: bool = False
    """Whether what is done while spinning spins after each step, as the example does."""


class Episodes:
    """Where commands and worlds come from: examples, or draws of their own."""

    def __init__(
        self, size: int, examples: Examples | None = None, things: int | None = None
    ) -> None:
        """Choose the source.

        Args:
            size: Cells along a side of the grids.
            examples: What is drawn from; unless given, any command in any world that it can have.
            things: In a world of the examples at most; unless given, any number.

        Raises:
            WrongRequest: the examples' grids are of another size, or there are none; or one of them
                is no command, speaks of nothing or of no one thing, or has too many things.
        """
        if examples is None:
            # A command that names a size has twelve things, and the agent may stand beside them.
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

    def __call__(self, draw: Generator, number: int | None = None) -> Episode:
        """Return a command and its world: the example with that number, or a drawn one.

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

    def _drawn(self, draw: Generator) -> Episode:
        commands = grounded.commands()
        command = commands[int(draw.integers(len(commands)))]
        things = list(targets(command.phrase))
        thing = things[int(draw.integers(len(things)))]
        every = situations(self.size, 1, draw)
        row = draw.integers(len(every), size=1)
        where = Situations(every.agent[row], every.target[row])
        return Episode(command, shown(command.phrase, thing, where, self.size, draw)[0])


def _check_playable(examples: Examples, things: int | None) -> None:
    """Refuse examples of which one says nothing that can be done in its world; name the first."""
    places, worlds = grounded.places(), worlds_of(examples)
    said = (places.get(words, NO_COMMAND) for words in examples.source)
    commands = np.fromiter(said, np.int64, len(examples))
    known, counts = commands != NO_COMMAND, np.diff(worlds.offsets)
    found = referents(np.where(known, commands, 0), worlds)
    right = known & (found >= 0) & (things is None or counts <= things)
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
