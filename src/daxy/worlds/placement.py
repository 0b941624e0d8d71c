"""Placement of agent, target and distractors (Ruis et al. 2020, Appendix B).

Each possible target has situations: a cell of the agent, who faces east, and a cell of the target.
All commands with that target share them; the distractors are drawn for each command. The rules
are those of the authors' program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import require
from daxy.languages.grounded import COLORS, SHAPES, SIZES, Phrase, Thing
from daxy.worlds.columns import Worlds, code_of
from daxy.worlds.grid import EAST

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
"""Directions from the agent to a target: signs of rows, growing southwards, and columns."""

PAIRS: Codes = np.array(list(product(range(len(SHAPES)), range(len(COLORS)))))
"""Indices in `SHAPES` and `COLORS` of the 12 kinds of things, regardless of size."""
KINDS = 5
"""Number of kinds of distractors for a phrase with a color or a size."""
CHUNK = 1 << 22
"""Cells that are drawn together."""
OF_A_KIND = 2
"""Distractors of each kind for a phrase with a size."""


@dataclass(frozen=True, eq=False)
class Situations:
    """Cells of the agent and of the target: row and column, [count, 2] each."""

    agent: Codes
    target: Codes

    def __len__(self) -> int:
        return len(self.agent)


def draw_situations(size: int, resampling: int, draw: np.random.Generator) -> Situations:
    """Draw situations with the target in every direction, at every distance.

    In a straight direction each distance occurs `resampling` times, the smallest and the largest
    once. In a diagonal one each sum of rows and columns does, the largest once; its split is drawn.
    Then the agent's cell is drawn so that the target is in the grid.

    Args:
        size: Cells along a side.
        resampling: The authors' r.
        draw: Random generator.
    """
    require(size > 1, f"a grid needs two cells along a side, not {size}")
    require(resampling > 0, f"resampling must be positive, not {resampling}")
    ways = [_ways(signs, size, resampling, draw) for signs in DIRECTIONS.values()]
    way = np.concatenate(ways)
    first, end = np.maximum(0, -way), size - np.maximum(0, way)
    agent = draw.integers(first, end)
    return Situations(agent, agent + way)


def count_of_situations(size: int, resampling: int) -> int:
    """Return the number of situations of `draw_situations`."""
    straight = sum(1 if each in (1, size - 1) else resampling for each in range(1, size))
    diagonal = (2 * size - 4) * resampling + 1
    return 4 * (straight + diagonal)


def _ways(signs: tuple[int, int], size: int, resampling: int, draw: np.random.Generator) -> Codes:
    most = size - 1
    if 0 in signs:
        distances = np.arange(1, size)
        repeats = np.where((distances == 1) | (distances == most), 1, resampling)
        return np.outer(np.repeat(distances, repeats), signs)
    sums = np.arange(2, 2 * most + 1)
    sums = np.repeat(sums, np.where(sums == 2 * most, 1, resampling))
    rows = draw.integers(np.maximum(1, sums - most), np.minimum(sums - 1, most) + 1)
    return np.stack([rows, sums - rows], axis=1) * signs


def possible_targets(phrase: Phrase) -> Iterator[Thing]:
    """Yield the possible referents of a phrase.

    A thing of the smallest size cannot be the big one of two, nor one of the largest the small one.
    """
    sizes = {None: SIZES, "small": SIZES[:-1], "big": SIZES[1:]}[phrase.size]
    colors = COLORS if phrase.color is None else (phrase.color,)
    yield from (Thing(phrase.shape, color, size) for color in colors for size in sizes)


def draw_distractors(phrase: Phrase, target: Thing, count: int, draw: np.random.Generator) -> Codes:
    """Draw distractors of a target: [count, things, 3], as in `Worlds.things`.

    - For a shape: one thing of another shape.
    - For a color and a shape: one thing of each of 5 other kinds, a kind being a shape and a color.
    - For a size: one larger or smaller thing of the target's kind, and two of each of 5 other
      kinds; without a color, things of the target's shape are all larger or all smaller.
    """
    shape, color, size = code_of(target)
    if phrase.color is None and phrase.size is None:
        shapes = draw.choice([each for each in range(len(SHAPES)) if each != shape], count)
        others = draw.integers(len(COLORS), size=count), draw.integers(len(SIZES), size=count)
        return np.stack([shapes, *others], axis=1)[:, None]
    is_target = (PAIRS[:, 0] == shape) & (PAIRS[:, 1] == color)
    kinds = _draw_kinds(PAIRS[~is_target], KINDS, count, draw)
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


def _draw_kinds(kinds: Codes, many: int, count: int, draw: np.random.Generator) -> Codes:
    """Draw `many` different kinds, `count` times: [count, many, 2]."""
    return kinds[draw.random((count, len(kinds))).argsort(axis=1)[:, :many]]


def _draw_free_cells(taken: Codes, many: int, size: int, draw: np.random.Generator) -> Codes:
    """Draw `many` cells of each grid in random order, without the taken ones."""
    ranks = draw.random((len(taken), size**2))
    np.put_along_axis(ranks, taken, np.inf, axis=1)
    return ranks.argsort(axis=1)[:, :many]


def place_objects(
    phrase: Phrase, target: Thing, where: Situations, size: int, draw: np.random.Generator
) -> Worlds:
    """Return a world with distractors for each situation.

    Raises:
        WrongRequest: the grid has no room for the distractors.
    """
    count = len(where)
    others = draw_distractors(phrase, target, count, draw)
    many = others.shape[1]
    room = size**2 - 2
    full = f"a grid of {size} by {size} has no room for {many} things around {phrase}: {room} cells"
    require(many <= room, full)
    taken = np.stack([where.agent, where.target], axis=1) @ [size, 1]
    chunk = max(1, CHUNK // size**2)  # without effect on the draws
    places = [
        _draw_free_cells(taken[n : n + chunk], many, size, draw) for n in range(0, count, chunk)
    ]
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
