"""Commands, actions and worlds as arrays, and batches of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daxy.core.random import stream
from daxy.core.vocabulary import Vocabulary
from daxy.worlds.columns import CELLS
from daxy.worlds.examples import GroundedExamples


@dataclass(frozen=True, eq=False)
class Batch:
    """Some examples as a network sees them."""

    source: NDArray[np.uint16]
    """Codes of the commands: [batch, longest source + END]."""
    target: NDArray[np.uint16]
    """Codes of the actions: [batch, longest target + END]."""
    state: NDArray[np.uint8]
    """The worlds: [batch, row, column, channel], see `daxy.worlds.grid.CHANNELS`."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """Examples, encoded once; the worlds take a byte a cell until they are in a batch."""

    source: NDArray[np.uint16]
    target: NDArray[np.uint16]
    maps: NDArray[np.uint8]
    """See `daxy.worlds.columns.Worlds.maps`: [count, row, column]."""

    @classmethod
    def of(cls, examples: GroundedExamples, sources: Vocabulary, targets: Vocabulary) -> Encoded:
        """Encode examples, whose grids are of one size.

        Raises:
            WrongRequest: they are not, or a token is in no vocabulary.
        """
        source, target = sources.encode(examples.source), targets.encode(examples.target)
        return cls(source, target, examples.worlds.maps)

    def __len__(self) -> int:
        return len(self.source)

    def take(self, rows: NDArray[np.integer]) -> Batch:
        """Return the examples at these positions, no wider than the longest of them."""
        source, target = (_trimmed(codes[rows]) for codes in (self.source, self.target))
        return Batch(source, target, CELLS[self.maps[rows]])

    def batches(self, size: int, seed: int) -> Iterator[Batch]:
        """Yield every example once, in an order of the seed's; the last batch may be smaller."""
        order = stream(seed, "batches").permutation(len(self))
        for first in range(0, len(self), size):
            yield self.take(order[first : first + size])


def _trimmed(codes: NDArray[np.uint16]) -> NDArray[np.uint16]:
    return codes[:, : int(np.count_nonzero(codes, axis=1).max(initial=1))]
