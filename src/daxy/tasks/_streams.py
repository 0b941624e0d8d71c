"""Unlimited streams of pairs with random access."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import WrongRequest, require
from daxy.core.examples import Examples, Sequences
from daxy.core.random import stream
from daxy.languages.itg import Grammar, Sampler

BLOCK, TOKENS = 4_096, 1 << 20
"""Pairs of a block and tokens of its sources, at most; each block has its own random stream."""


class PairGenerator(ABC):
    """Random pairs whose sources have lengths in a range."""

    longest: int

    @abstractmethod
    def pairs(self, count: int, draw: np.random.Generator) -> Examples:
        """Return so many pairs."""


@dataclass(frozen=True, eq=False)
class Stream:
    """An unlimited sequence of pairs, fixed by its seed and purpose."""

    generator: PairGenerator
    seed: int
    purpose: str
    """Name of its random stream."""

    def pairs(self, rows: range) -> Examples:
        """Return the pairs with these consecutive numbers."""
        first_block = rows.start // self._block_size
        blocks = range(first_block, max(first_block + 1, -(-rows.stop // self._block_size)))
        whole = Examples.joined([self._block(number) for number in blocks])
        first = rows.start - blocks.start * self._block_size
        return whole[first : first + len(rows)]

    def _block(self, number: int) -> Examples:
        draw = stream(self.seed, f"{self.purpose}, block {number}")
        return self.generator.pairs(self._block_size, draw)

    @property
    def _block_size(self) -> int:
        return max(1, min(BLOCK, TOKENS // self.generator.longest))


@final
@dataclass(frozen=True, eq=False)
class Derivations(PairGenerator):
    """Pairs of a grammar, with its distribution of lengths or a uniform one."""

    grammar: Grammar
    shortest: int
    longest: int
    uniform: bool

    def pairs(self, count: int, draw: np.random.Generator) -> Examples:
        """Return so many pairs.

        Raises:
            WrongRequest: the grammar has none in the range.
        """
        if self.uniform:
            lengths = draw.choice(self._sampler.possible(self.shortest), count)
        else:
            odds = self._sampler.lengths(self.shortest)
            lengths = draw.choice(len(odds), count, p=odds)
        return self._sampler.pairs(lengths, draw)

    @cached_property
    def _sampler(self) -> Sampler:
        sampler = Sampler.of(self.grammar, self.longest)
        try:
            sampler.lengths(self.shortest)
        except WrongRequest as error:
            flags = "--min-length, --max-length, --test-min-length and --test-max-length"
            raise WrongRequest(f"{error}; expected other lengths ({flags})") from error
        return sampler


@dataclass(frozen=True, eq=False)
class Permutation(PairGenerator):
    """Sequences of symbols drawn with replacement, and the same symbols in another order."""

    symbols: int
    shortest: int
    longest: int

    def pairs(self, count: int, draw: np.random.Generator) -> Examples:
        """Return so many pairs."""
        lengths = draw.choice(self.possible(), count)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        codes = draw.integers(self.symbols, size=offsets[-1]).astype(np.uint16)
        names = [f"a{number}" for number in range(1, self.symbols + 1)]
        source = Sequences(tuple(sorted(names)), codes, offsets)
        place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        within = self.order(place, np.repeat(lengths, lengths))
        target = codes[np.repeat(offsets[:-1], lengths) + within]
        return Examples(source, Sequences(source.symbols, target, offsets))

    def possible(self) -> NDArray[np.int64]:
        """Return the lengths that sources can have."""
        return np.arange(self.shortest, self.longest + 1)

    @abstractmethod
    def order(self, place: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the source position of each target position."""


@final
class Copy(Permutation):
    """The target is the source."""

    def order(self, place: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the same position."""
        del length
        return place


@final
class Reverse(Permutation):
    """The target is the source from its end."""

    def order(self, place: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the position counted from the end."""
        return length - 1 - place


@final
class BigramFlip(Permutation):
    """The target swaps the two symbols of each pair."""

    def possible(self) -> NDArray[np.int64]:
        """Return the even lengths.

        Raises:
            WrongRequest: there is none in the range.
        """
        even = np.arange(self.shortest + self.shortest % 2, self.longest + 1, 2)
        require(len(even) > 0, f"no length from {self.shortest} to {self.longest} is even")
        return even

    def order(self, place: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the other position of the pair."""
        del length
        return place ^ 1
