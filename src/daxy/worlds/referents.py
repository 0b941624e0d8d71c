"""What commands speak of, in many worlds at a time; see `daxy.languages.grounded.referent`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from daxy.languages import grounded
from daxy.languages.grounded import COLORS, SHAPES
from daxy.worlds.columns import Worlds

ANY, NONE = -1, -1
SMALL, BIG = 1, 2


def referents(commands: NDArray[np.integer], worlds: Worlds) -> NDArray[np.int64]:
    """Return the place of what each command speaks of in its world; -1 where that is not one thing.

    Args:
        commands: Places in `grounded.commands()`: [count].
        worlds: As many.
    """
    counts = np.diff(worlds.offsets)
    owners = np.repeat(np.arange(len(worlds)), counts)
    shape, color, size = _phrases()[commands].T
    shapes, colors, sizes = worlds.things.T.astype(np.int64)
    fits = (shapes == shape[owners]) & ((color[owners] == ANY) | (colors == color[owners]))
    least, most = np.full(len(worlds), 99), np.full(len(worlds), -1)
    np.minimum.at(least, owners[fits], sizes[fits])
    np.maximum.at(most, owners[fits], sizes[fits])
    asked = size[owners]
    fits &= (asked != SMALL) | (sizes == least[owners])
    fits &= (asked != BIG) | (sizes == most[owners])
    unlike = (size == 0) | (least < most)
    found = np.flatnonzero(fits & unlike[owners])
    places = np.full(len(worlds), NONE)
    places[owners[found]] = found - worlds.offsets[:-1][owners[found]]
    return np.where(np.bincount(owners[found], minlength=len(worlds)) == 1, places, NONE)


def _phrases() -> NDArray[np.int64]:
    """Return the phrase of each command: places of its shape and color, and its size: [675, 3]."""
    phrases = [command.phrase for command in grounded.commands()]
    return np.array(
        [
            (
                SHAPES.index(phrase.shape),
                ANY if phrase.color is None else COLORS.index(phrase.color),
                {None: 0, "small": SMALL, "big": BIG}[phrase.size],
            )
            for phrase in phrases
        ]
    )
