"""How SCAN's 20,910 commands become train and test: a rule or a draw.

A partition is two columns of positions in the canonical order of the commands. Positions keep the
order of the file they stand for; a command that is oversampled stands in train more than once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Tokens
from daxy.core.random import stream
from daxy.core.split import Sizes
from daxy.languages import scan
from daxy.tasks._predicates import NEVER, Contains, Predicate

Rows = NDArray[np.int64]

SHARE = Fraction(1, 10)
"""The share of training presentations that an oversampled primitive has."""


@dataclass(frozen=True)
class Partition:
    """Which commands are in train, repeats included, and which in test."""

    train: Rows
    test: Rows


class Rule(Protocol):
    """A way to make a partition that can say itself."""

    @property
    def sizes(self) -> Sizes:
        """The published sizes in lines."""

    def partition(self, seed: int, *, oversample: bool) -> Partition:
        """Return train and test, both in a fixed shuffled order, as in the official files."""


@dataclass(frozen=True, kw_only=True)
class HoldOut:
    """Test holds what a predicate holds of, train the rest; the rule needs no draw."""

    test: Predicate
    sizes: Sizes
    drop: Predicate = NEVER
    """Which commands are in neither part, before any other is asked about."""
    withhold: Predicate = NEVER
    """Which of those that are not in test are not in train either."""
    oversample: str | None = None
    """The phrase whose commands make up a tenth of the training lines."""

    def __str__(self) -> str:
        dropped = "" if self.drop is NEVER else f"; in neither: commands {self.drop}"
        withheld = "" if self.withhold is NEVER else f" except those {self.withhold}"
        often = f"; oversampled to 10%: `{self.oversample}`" if self.oversample else ""
        return f"test: commands {self.test}; train: all others{withheld}{dropped}{often}"

    def partition(self, seed: int, *, oversample: bool) -> Partition:  # noqa: ARG002 - no draw
        """Return train and test."""
        return self.with_added(np.empty(0, np.int64), oversample=oversample)

    def with_added(self, added: Rows, *, oversample: bool) -> Partition:
        """Return train and test with more commands in train, which leave test if they are in it."""
        train, test = self.parts()
        train = np.concatenate([train, added])
        if oversample and self.oversample is not None:
            train = oversampled(train, self.oversample)
        return Partition(shuffled(train), shuffled(np.setdiff1d(test, added)))

    def parts(self) -> tuple[Rows, Rows]:
        """Return train and test in the canonical order, every command once."""
        universe = np.setdiff1d(everything(), select(self.drop))
        test = np.intersect1d(universe, select(self.test))
        return np.setdiff1d(np.setdiff1d(universe, test), select(self.withhold)), test


@dataclass(frozen=True, kw_only=True)
class Proportion:
    """Train is the first so many per cent of one draw, so that smaller ones lie in larger ones."""

    percent: int

    def __str__(self) -> str:
        return f"train: the first {self.percent}% of one draw of all commands; test: all others"

    @property
    def sizes(self) -> Sizes:
        """The sizes in lines: train is rounded down."""
        train = scan.SCAN.size * self.percent // 100
        return Sizes(train=train, test=scan.SCAN.size - train)

    def partition(self, seed: int, *, oversample: bool) -> Partition:  # noqa: ARG002 - no primitive
        """Return train and test."""
        drawn = stream(seed, "scan/simple").permutation(everything())
        count = self.sizes.train
        return Partition(drawn[:count], drawn[count:])


@dataclass(frozen=True, kw_only=True)
class Added:
    """A rule whose train is given some commands, drawn from a pool, that it did not have."""

    base: HoldOut
    pool: Predicate
    count: int
    draw: str
    """Purpose of the draw; rules that share it draw the same, so their additions are nested."""
    sizes: Sizes
    reserve: int | None = None
    """How many are drawn; all of them leave test, the first `count` are added to train."""
    released: Sizes | None = None
    """The sizes of the authors' files, where they repeat commands another number of times."""
    least_published: int | None = None
    """How many the official file may have at least, where it is known to add fewer than `count`."""

    def __str__(self) -> str:
        if self.reserve:
            leave = f"{self.reserve} commands drawn from those {self.pool} leave test"
            return f"{self.base}; then {leave}, and the first {self.count} join train"
        added = f"{self.count} commands drawn from those {self.pool}"
        return f"{self.base}; then {added} join train and leave test"

    def partition(self, seed: int, *, oversample: bool) -> Partition:
        """Return train and test."""
        reserve = self.count if self.reserve is None else self.reserve
        drawn = stream(seed, self.draw).choice(select(self.pool), reserve, replace=False)
        parts = self.base.with_added(drawn[: self.count], oversample=oversample)
        return Partition(parts.train, parts.test[~np.isin(parts.test, drawn)])


def oversampled(train: Rows, phrase: str) -> Rows:
    """Return train with the commands that contain the phrase repeated to a tenth of all lines.

    Each of the m commands stands round(B / 9 / m) times among the B others, as in the official
    files (1467 times `jump`, 2189 times `turn left`).
    """
    repeated = np.isin(train, select(Contains(phrase)))
    others = int((~repeated).sum())
    copies = round(others * SHARE / (1 - SHARE) / int(repeated.sum()))
    return np.concatenate([train[~repeated], np.repeat(train[repeated], copies)])


def shuffled(rows: Rows) -> Rows:
    """Return rows in a shuffled order that depends on them alone, on no seed."""
    return stream(0, "scan/order").permutation(rows)


def everything() -> Rows:
    """Return the positions of all commands."""
    return np.arange(scan.SCAN.size)


@cache
def select(predicate: Predicate) -> Rows:
    """Return the positions of the commands that a predicate holds of."""
    held = (row for row, command in enumerate(words()) if predicate(command))
    rows = np.fromiter(held, np.int64)
    rows.setflags(write=False)
    return rows


@cache
def words() -> tuple[Tokens, ...]:
    """Return the words of all commands in the canonical order."""
    return tuple(scan.meanings())
