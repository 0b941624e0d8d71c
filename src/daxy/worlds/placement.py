"""Where commands are shown: agent, target and what stands around (Ruis et al. 2020, App. B).

For each thing that can be a target there are situations: a place for the agent, who faces east, and
one for the target. Every command that can speak of the thing is shown in all of them; only what
stands around is drawn anew. The rules are those of the authors' program, which its data agree with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import require
from daxy.languages.grounded import COLORS, SHAPES, SIZES, Phrase, Thing
from daxy.worlds.columns import Worlds, code_of
from daxy.worlds.grid import EAST

if TYPE_CHECKING:
    from numpy.random import Generator

Codes = NDArray[np.int64]

DIRECTIONS = {
    "e": (0, 1),
    "se": (1, 1),
    "s": (1, 0),
    "sw": (1, -1),
    "w": (0, -1),
    "nw": (-1, -1),
    "n": (-1, 0),
    "ne": (-1, 1),
}
"""Where a target can be, seen from the agent: signs of rows, growing southwards, and columns."""

PAIRS: Codes = np.array(list(product(range(len(SHAPES)), range(len(COLORS)))))
"""Places in `SHAPES` and `COLORS` of the 12 kinds of things that differ in more than size."""
KINDS = 5
"""How many other kinds stand around where a phrase names a color or a size."""
CHUNK = 1 << 22
"""Cells that are looked at together."""
OF_A_KIND = 2
"""Things of each where a size is named."""


@dataclass(frozen=True, eq=False)
class Situations:
    """Places for the agent and for the target: row and column, [count, 2] each."""

    agent: Codes
    target: Codes

    def __len__(self) -> int:
        return len(self.agent)


def situations(size: int, resampling: int, draw: Generator) -> Situations:
    """Return situations in which the target is in every direction, at every distance.

    In a straight direction each distance comes `resampling` times, the least and the greatest once.
    In a diagonal one each sum of rows and columns does, the greatest once; how it is divided is
    drawn. Then the agent's cell is drawn from those that leave the target within the grid.

    Args:
        size: Cells along a side.
        resampling: The authors' r.
        draw: Where draws come from.
    """
    require(size > 1, f"a grid needs two cells along a side, not {size}")
    require(resampling > 0, f"resampling must be positive, not {resampling}")
    ways = [_ways(signs, size, resampling, draw) for signs in DIRECTIONS.values()]
    way = np.concatenate(ways)
    first, end = np.maximum(0, -way), size - np.maximum(0, way)
    agent = draw.integers(first, end)
    return Situations(agent, agent + way)


def count_of_situations(size: int, resampling: int) -> int:
    """Return how many situations `situations` returns, without making any."""
    straight = sum(1 if each in (1, size - 1) else resampling for each in range(1, size))
    diagonal = (2 * size - 4) * resampling + 1
    return 4 * (straight + diagonal)


def _ways(signs: tuple[int, int], size: int, resampling: int, draw: Generator) -> Codes:
    """Return how many rows and columns the target is away, in one direction: [count, 2]."""
    most = size - 1
    if 0 in signs:
        distances = np.arange(1, size)
        repeats = np.where((distances == 1) | (distances == most), 1, resampling)
        return np.outer(np.repeat(distances, repeats), signs)
    sums = np.arange(2, 2 * most + 1)
    sums = np.repeat(sums, np.where(sums == 2 * most, 1, resampling))
    rows = draw.integers(np.maximum(1, sums - most), np.minimum(sums - 1, most) + 1)
    return np.stack([rows, sums - rows], axis=1) * signs


def targets(phrase: Phrase) -> Iterator[Thing]:
    """Yield the things that a phrase can speak of, given the right things around.

    The smallest thing there is cannot be the big one of two, nor the largest the small one.
    """
    sizes = {None: SIZES, "small": SIZES[:-1], "big": SIZES[1:]}[phrase.size]
    colors = COLORS if phrase.color is None else (phrase.color,)
    yield from (Thing(phrase.shape, color, size) for color in colors for size in sizes)


def around(phrase: Phrase, target: Thing, count: int, draw: Generator) -> Codes:
    """Return what stands around a target: [count, things, 3], as `Worlds` has them.

    - Only a shape is named: one thing of another shape.
    - A color too: one thing each of 5 other kinds, a kind being a shape and a color.
    - A size: one thing that it is small or big beside, of its shape and color, and two each of 5
      other kinds; things of its shape are all larger, or smaller, where no color is named.
    """
    shape, color, size = code_of(target)
    if phrase.color is None and phrase.size is None:
        shapes = draw.choice([each for each in range(len(SHAPES)) if each != shape], count)
        others = draw.integers(len(COLORS), size=count), draw.integers(len(SIZES), size=count)
        return np.stack([shapes, *others], axis=1)[:, None]
    own = (PAIRS[:, 0] == shape) & (PAIRS[:, 1] == color)
    kinds = _some(PAIRS[~own], KINDS, count, draw)
    if phrase.size is None:
        sizes = draw.integers(len(SIZES), size=(count, KINDS, 1))
        return np.concatenate([kinds, sizes], axis=2)
    kinds = np.repeat(kinds, OF_A_KIND, axis=1)
    first, end = (size + 1, len(SIZES)) if phrase.size == "small" else (0, size)
    compared = draw.integers(first, end, size=(count, 1))
    alike = (kinds[:, :, 0] == shape) & (phrase.color is None)
    sizes = draw.integers(np.where(alike, first, 0), np.where(alike, end, len(SIZES)))
    beside = np.concatenate([np.tile([shape, color], (count, 1)), compared], axis=1)
    return np.concatenate([beside[:, None], np.dstack([kinds, sizes])], axis=1)


def _some(kinds: Codes, many: int, count: int, draw: Generator) -> Codes:
    """Return so many different ones of some kinds, drawn `count` times: [count, many, 2]."""
    return kinds[draw.random((count, len(kinds))).argsort(axis=1)[:, :many]]


def _free(taken: Codes, many: int, size: int, draw: Generator) -> Codes:
    """Return so many cells of each grid, in a drawn order, that are not among those taken."""
    ranks = draw.random((len(taken), size**2))
    np.put_along_axis(ranks, taken, np.inf, axis=1)
    return ranks.argsort(axis=1)[:, :many]


def shown(phrase: Phrase, target: Thing, where: Situations, size: int, draw: Generator) -> Worlds:
    """Return a world for each situation, with what stands around a target; the target is first.

    Raises:
        WrongRequest: the grid has no room for it.
    """
    count = len(where)
    others = around(phrase, target, count, draw)
    many = others.shape[1]
    room = size**2 - 2
    full = f"a grid of {size} by {size} has no room for {many} things around {phrase}: {room} cells"
    require(many <= room, full)
    taken = np.stack([where.agent, where.target], axis=1) @ [size, 1]
    chunk = max(1, CHUNK // size**2)  # which changes nothing about what is drawn
    places = [_free(taken[n : n + chunk], many, size, draw) for n in range(0, count, chunk)]
    cells = np.stack(np.divmod(np.concatenate(places), size), axis=2)
    first = np.broadcast_to(code_of(target), (count, 1, 3))
    things = np.concatenate([first, others], axis=1)
    cells = np.concatenate([where.target[:, None], cells], axis=1)
    return Worlds(
        size=np.full(count, size, np.uint8),
        agent=where.agent.astype(np.uint8),
        heading=np.full(count, EAST, np.uint8),
        things=things.reshape(-1, 3).astype(np.uint8),
        cells=cells.reshape(-1, 2).astype(np.uint8),
        offsets=np.arange(count + 1) * (many + 1),
    )
