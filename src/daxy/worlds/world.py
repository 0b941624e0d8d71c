"""Worlds: states of the grid with pictures, texts and demonstrations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import WrongRequest
from daxy.languages.grounded import Command, parse
from daxy.worlds import drawing
from daxy.worlds.demonstration import demonstrate
from daxy.worlds.grid import CHANNELS, HEADINGS, Grid, GridCell
from daxy.worlds.text import as_text


class World(Grid):
    """A state of the grid, with its pictures; actions return new ones."""

    def _repr_svg_(self) -> str:
        return drawing.svg(self)

    def demonstrate(self, command: Command) -> tuple[str, ...]:
        """Return the demonstration of a command; see `daxy.worlds.demonstration`."""
        return demonstrate(command, self)

    def as_text(self, marked: GridCell | None = None) -> str:
        """Return the world as lines of text; see `daxy.worlds.text`."""
        return as_text(self, marked)

    def picture(self, source: Sequence[str], target: Sequence[str]) -> str:
        """Return an SVG of a command: the target's frame, the path of the actions, a caption.

        A command without exactly one referent, as in an augmented example, has no frame.
        """
        try:
            look = drawing.demonstration_look(self, parse(source), target)
        except WrongRequest:
            caption = drawing.Caption(command=" ".join(source), actions=target)
            path = self.path(drawing.valid_actions(target))
            look = drawing.Look(path=path, caption=caption)
        return drawing.svg(self, **look)

    def tensor(self) -> NDArray[np.uint8]:
        """Return the state tensor: [row, column, channel]; see `CHANNELS`."""
        state = np.zeros((self.size, self.size, len(CHANNELS)), np.uint8)
        for thing, cell in self.placed:
            for value in (thing.size, thing.shape, thing.color):
                state[cell][CHANNELS.index(value)] = 1
        state[self.agent][[CHANNELS.index("agent"), CHANNELS.index(HEADINGS[self.heading])]] = 1
        return state
