"""Vectors of gSCAN's official files: a bit for each size, shape and color of a thing.

The order of the bits differs between files and is not documented, so it is inferred.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from daxy.core.errors import quote
from daxy.languages.grounded import COLORS, SHAPES, SIZES
from daxy.worlds.columns import thing_of

Code = tuple[int, int, int]
"""Indices of a thing's shape, color and size, as in `daxy.worlds.columns.Worlds`."""
Oddity = tuple[str, int, str]
"""A split, the number of an example, and the error of a vector there."""
Order = tuple[dict[tuple[int, int], int], int]
"""Bit of each (0: shape, 1: color or 2: size; index), and the number of bits."""

RELEASED = ("yellow", "green", "red", "blue")
"""The order of colors in the vectors of the released files."""


@dataclass
class Vectors:
    """Vectors of the things in a file.

    The order of the bits is that of the header's words, that of the released files, or the one that
    correlates best with the things.
    """

    counts: Counter[tuple[Code, str]] = field(default_factory=Counter[tuple[Code, str]])
    first: dict[tuple[Code, str], tuple[str, int]] = field(
        default_factory=dict[tuple[Code, str], tuple[str, int]]
    )
    place: tuple[str, int] = ("", 0)
    """Split and number of the current example."""

    def add(self, kinds: Sequence[tuple[Code, str]]) -> None:
        """Count the things of an example, each with its vector."""
        self.counts.update(kinds)
        if len(self.counts) > len(self.first):
            for kind in kinds:
                self.first.setdefault(kind, self.place)

    def oddities(self, header: Mapping[str, Any]) -> Iterator[Oddity]:
        """Yield each wrong vector with its first example."""
        if not self.counts:
            return
        orders = [*_orders(header), *self._likely()]
        fits = [sum(n for (c, v), n in self.counts.items() if vector(c, o) == v) for o in orders]
        order = orders[int(np.argmax(fits))]
        for (code, given), (split, number) in self.first.items():
            expected = vector(code, order)
            if given != expected:
                count = self.counts[code, given]
                more = f" (and {count - 1:,} other times)" if count > 1 else ""
                wrong = f"the vector of a {thing_of(code)} is {quote(given)}"
                yield split, number, f"{wrong}; expected {quote(expected)}{more}"

    def _likely(self) -> Iterator[Order]:
        """Yield the order with the best correlated bit of each value, if the bits are distinct."""
        width = max(len(vector) for _, vector in self.counts)
        kept = [each for each in self.counts.items() if len(each[0][1]) == width]
        bits = np.array([[bit == "1" for bit in vector] for (_, vector), _ in kept], np.float64)
        codes = np.array([code for (code, _), _ in kept])
        weights = np.array([count for _, count in kept], np.float64)
        order: dict[tuple[int, int], int] = {}
        for kind in range(3):
            for value in np.unique(codes[:, kind]).tolist():
                has = codes[:, kind] == value
                shares = [
                    np.average(bits[rows], axis=0, weights=weights[rows]) if rows.any() else 0.0
                    for rows in (has, ~has)
                ]
                more = shares[0] - shares[1]
                order[kind, value] = int(np.argmax(more)) if width else 0
        if width and len(set(order.values())) == len(order):
            yield order, width


def _orders(header: Mapping[str, Any]) -> Iterator[Order]:
    """Yield the orders of the header's words and of the released files."""
    shapes, colors = (list(header.get(name, {})) for name in ("nouns", "color_adjectives"))
    if not set(shapes) <= set(SHAPES) or not set(colors) <= set(COLORS):
        return
    for order in (colors, [color for color in RELEASED if color in colors]):
        yield order_of(shapes, order)


def order_of(shapes: Sequence[str], colors: Sequence[str]) -> Order:
    """Return the order of sizes, then these shapes and colors."""
    bits = [(2, place) for place in range(len(SIZES))]
    bits += [(0, SHAPES.index(shape)) for shape in shapes]
    bits += [(1, COLORS.index(color)) for color in colors]
    return {bit: place for place, bit in enumerate(bits)}, len(bits)


def vector(code: Code, order: Order) -> str:
    """Return the vector of a thing."""
    places, width = order
    ones = {places.get((kind, value)) for kind, value in enumerate(code)}
    return "".join("01"[place in ones] for place in range(width))
