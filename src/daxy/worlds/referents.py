"""Referents of commands in many worlds at a time; see `daxy.languages.grounded.referent`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from daxy.languages import grounded
from daxy.languages.grounded import COLORS, SHAPES
from daxy.worlds.columns import Worlds

ANY, NONE = -1, -1
SMALL, BIG = 1, 2


def referents(commands: NDArray[np.integer], worlds: Worlds) -> NDArray[np.int64]:
    """Return the index of each command's referent in its world; -1 for none or several.

    Args:
        commands: Indices in `grounded.commands()`: [count].
        worlds: As many worlds.
    """
    counts = np.diff(worlds.offsets)
    owners = np.repeat(np.arange(len(worlds)), counts)
    shape, color, size = _phrases()[commands].T
    shapes, colors, sizes = worlds.things.T.astype(np.int64)
    fits = (shapes == shape[owners]) & ((color[owners] == ANY) | (colors == color[owners]))
    least, most = np.full(len(worlds), 99), np.full(len(worlds), -1)
    np.minimum.at(least, owners[fits], sizes[fits])
    np.maximum.at(most, owners[fits], sizes[fits])
    named = size[owners]
    fits &= (named != SMALL) | (sizes == least[owners])
    fits &= (named != BIG) | (sizes == most[owners])
    differ = (size == 0) | (least < most)
    rows = np.flatnonzero(fits & differ[owners])
    index = np.full(len(worlds), NONE)
    index[owners[rows]] = rows - worlds.offsets[:-1][owners[rows]]
    return np.where(np.bincount(owners[rows], minlength=len(worlds)) == 1, index, NONE)


def _phrases() -> NDArray[np.int64]:
    """Return the phrase of each command: indices of shape and color, and size: [675, 3]."""
    phrases = [command.phrase for command in grounded.commands()]
    shapes = [SHAPES.index(each.shape) for each in phrases]
    colors = [ANY if each.color is None else COLORS.index(each.color) for each in phrases]
    sizes = [{None: 0, "small": SMALL, "big": BIG}[each.size] for each in phrases]
    return np.column_stack([shapes, colors, sizes])
