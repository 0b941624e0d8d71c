"""Rules and draws that split SCAN's 20,910 commands into train and test.

A partition is two columns of rows in the canonical order of commands, in the order of the official
files. Oversampled commands occur in train repeatedly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import require
from daxy.core.examples import Examples, Tokens
from daxy.core.random import stream
from daxy.core.split import Sizes
from daxy.languages import scan
from daxy.tasks._predicates import NEVER, Contains, Predicate

Rows = NDArray[np.int64]

SHARE = Fraction(1, 10)
"""Share of an oversampled primitive in the training lines of the official files."""


@dataclass(frozen=True)
class Partition:
    """Commands of train, repeats included, and of test."""

    train: Rows
    test: Rows


class Rule(Protocol):
    """A way to partition the commands; its text describes it."""

    @property
    def sizes(self) -> Sizes:
        """Published sizes in lines."""
        ...

    def partition(self, seed: int, *, oversample: bool) -> Partition:
        """Return train and test, both in a fixed shuffled order."""
        ...


@dataclass(frozen=True, kw_only=True)
class HoldOut:
    """Test has the commands of a predicate, train the others; there is no draw."""

    test: Predicate
    sizes: Sizes
    drop: Predicate = NEVER
    """Commands in neither part, whatever the other predicates."""
    withhold: Predicate = NEVER
    """Commands outside of test that are not in train either."""
    oversample: str | None = None
    """Phrase whose commands are repeated in train."""
    share: Fraction = SHARE
    """Share of these commands in the training lines."""

    def __str__(self) -> str:
        dropped = "" if self.drop is NEVER else f"; in neither: commands {self.drop}"
        withheld = "" if self.withhold is NEVER else f" except those {self.withhold}"
        often = f"; oversampled to {percent(self.share)}: `{self.oversample}`"
        often = often if self.oversample else ""
        return f"test: commands {self.test}; train: all others{withheld}{dropped}{often}"

    def partition(self, seed: int, *, oversample: bool) -> Partition:  # noqa: ARG002 - no draw
        """Return train and test."""
        return self.with_added(np.empty(0, np.int64), oversample=oversample)

    def with_added(self, added: Rows, *, oversample: bool) -> Partition:
        """Return train and test after moving commands to train."""
        train, test = self.parts()
        train = np.concatenate([train, added])
        if oversample and self.oversample is not None:
            train = oversampled(train, self.oversample, self.share)
        return Partition(shuffled(train), shuffled(np.setdiff1d(test, added)))

    def parts(self) -> tuple[Rows, Rows]:
        """Return train and test in the canonical order, without repeats."""
        universe = np.setdiff1d(all_rows(), select(self.drop))
        test = np.intersect1d(universe, select(self.test))
        return np.setdiff1d(np.setdiff1d(universe, test), select(self.withhold)), test


@dataclass(frozen=True, kw_only=True)
class Proportion:
    """Train is the first part of one draw; smaller train sets are nested in larger ones."""

    share: Fraction

    def __str__(self) -> str:
        return (
            f"train: the first {percent(self.share)} of one draw of all commands; test: all others"
        )

    @property
    def sizes(self) -> Sizes:
        """Sizes in lines; train is rounded down."""
        train = int(scan.SCAN.size * self.share)
        return Sizes(train=train, test=scan.SCAN.size - train)

    def partition(self, seed: int, *, oversample: bool) -> Partition:  # noqa: ARG002 - no primitive
        """Return train and test."""
        drawn = stream(seed, "scan/simple").permutation(all_rows())
        count = self.sizes.train
        return Partition(drawn[:count], drawn[count:])


@dataclass(frozen=True, kw_only=True)
class Added:
    """A rule with additional training commands, drawn from a pool."""

    base: HoldOut
    pool: Predicate
    count: int
    draw: str
    """Purpose of the draw; rules that share it have nested additions."""
    sizes: Sizes
    reserve: int | None = None
    """Number of drawn commands: all leave test, and the first `count` join train."""
    released: Sizes | None = None
    """Sizes of the authors' files, if they repeat commands a different number of times."""
    least_published: int | None = None
    """Minimum number in the official file, if it adds fewer than `count`."""

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


def oversampled(train: Rows, phrase: str, share: Fraction = SHARE) -> Rows:
    """Return train with the commands of a phrase repeated to a share of all lines.

    For a tenth, each of m commands occurs round(B / 9 / m) times among B others, as in the official
    files (1467 times `jump`, 2189 times `turn left`).

    Raises:
        WrongRequest: the share is less than one line.
    """
    repeated = np.isin(train, select(Contains(phrase)))
    others = int((~repeated).sum())
    copies = round(others * share / (1 - share) / int(repeated.sum()))
    none = f"an oversample fraction of {float(share):g} leaves no line of `{phrase}` in train"
    require(copies > 0, none)
    return np.concatenate([train[~repeated], np.repeat(train[repeated], copies)])


def percent(share: Fraction) -> str:
    """Return a share as a text: 80%."""
    return f"{float(100 * share):.10g}%"


def shuffled(rows: Rows) -> Rows:
    """Return rows in a shuffled order that does not depend on the seed."""
    return stream(0, "scan/order").permutation(rows)


def all_rows() -> Rows:
    """Return the rows of all commands."""
    return np.arange(scan.SCAN.size)


@cache
def select(predicate: Predicate) -> Rows:
    """Return the rows of the commands of a predicate."""
    held = (row for row, command in enumerate(words()) if predicate(command))
    rows = np.fromiter(held, np.int64)
    rows.setflags(write=False)
    return rows


@cache
def command_table() -> Examples:
    """Return all commands with their actions, in the canonical order."""
    return Examples.of(scan.meanings().items())


@cache
def words() -> tuple[Tokens, ...]:
    """Return the words of all commands in the canonical order."""
    return tuple(scan.meanings())
