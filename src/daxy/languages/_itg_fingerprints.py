"""Fingerprints: sums that rule out pairs of spans without a search.

Tokens of both sides get random numbers with equal sums on the two sides of every rule, and so of
every derivation. Sums are modulo a prime; a chance collision only costs time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daxy.core.random import stream
from daxy.languages._itg_chart import Chart, Places
from daxy.languages._itg_grammar import tokens_of

PRIME = (1 << 31) - 1
"""Small enough for products in 64 bits."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Prefix sums of one side's numbers."""

    before: Sequence[int]
    """The sum before each place."""
    places: Mapping[int, Places]
    """Places by their sum."""

    @classmethod
    def from_numbers(cls, numbers: NDArray[np.int64]) -> Sums:
        """Return the sums of the numbers of some words."""
        before = (np.cumsum([0, *numbers]) % PRIME).tolist()
        places = dict[int, Places]()
        for place, found in enumerate(before):
            places[found] = places.get(found, 0) | 1 << place
        return cls(before, places)

    def of(self, span: tuple[int, int]) -> int:
        """Return the sum from one place to another."""
        return (self.before[span[1]] - self.before[span[0]]) % PRIME

    def beginning(self, start: int, wanted: int) -> Places:
        """Return the ends of spans with this start and sum."""
        return self.places.get((self.before[start] + wanted) % PRIME, 0)

    def ending(self, end: int, wanted: int) -> Places:
        """Return the starts of spans with this end and sum."""
        return self.places.get((self.before[end] - wanted) % PRIME, 0)


def fingerprints(charts: Sequence[Chart], rules: Sequence[int]) -> tuple[Sums, ...]:
    """Return the sums of the sides that have these two charts.

    Args:
        charts: The charts of the source and of the target.
        rules: The numbers of the rules that they may be derived by.
    """
    words = [(side, word) for side, chart in enumerate(charts) for word in sorted({*chart.words})]
    place = {word: number for number, word in enumerate(words)}
    balance = np.zeros((len(rules), len(words)), np.int64)
    for row, number in zip(balance, rules, strict=True):
        for side, chart in enumerate(charts):
            for token in tokens_of(chart.sides[number]):
                row[place[side, token]] += 1 - 2 * side
    numbers = _balanced(balance % PRIME)
    return tuple(
        Sums.from_numbers(numbers[[place[side, word] for word in chart.words]])
        for side, chart in enumerate(charts)
    )


def _balanced(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return random numbers whose sum, weighted by any row, is 0 (by Gauss's elimination)."""
    numbers = stream(0, "fingerprints").integers(PRIME, size=rows.shape[1])
    solved = dict[int, int]()
    for number in range(len(rows)):
        (there,) = np.nonzero(rows[number])
        if not len(there):
            continue
        column = int(there[-1])
        rows[number] = rows[number] * pow(int(rows[number, column]), -1, PRIME) % PRIME
        (others,) = np.nonzero(rows[:, column])
        others = others[others != number]
        rows[others] = (rows[others] - rows[others, column, None] * rows[number]) % PRIME
        solved[column] = number
    numbers[[*solved]] = 0
    for column, number in solved.items():
        numbers[column] = -(rows[number] * numbers % PRIME).sum() % PRIME
    return numbers
