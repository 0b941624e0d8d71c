"""Every distinct example of a group of runs, encoded once; a batch is a list of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import require
from daxy.core.examples import Examples, GridObservations, Sequences
from daxy.core.vocabulary import Vocabulary

Rows = NDArray[np.int32]
"""Row numbers of a table."""
Vocabularies = tuple[Vocabulary, Vocabulary]
"""The vocabularies of the sources and of the targets."""


@dataclass(frozen=True, eq=False)
class Table:
    """Source and target codes, each row one distinct example; oversampling is a repeated row.

    A code takes one byte if the vocabulary is small enough.
    """

    sources: Vocabulary
    targets: Vocabulary
    source: NDArray[np.unsignedinteger]
    """Shape [count, longest source + END]."""
    target: NDArray[np.unsignedinteger]
    """Shape [count, longest target + END]."""
    row_of: dict[str, int]
    """The row of each example's key."""
    observations: GridObservations | None = None
    """The world of each source; None without worlds."""

    @classmethod
    def of(cls, parts: Sequence[Examples], vocabularies: Vocabularies | None = None) -> Table:
        """Encode every distinct example.

        Args:
            parts: Examples.
            vocabularies: The vocabularies; by default the tokens that occur.

        Raises:
            WrongRequest: their worlds have grids of several sizes.
        """
        row_of: dict[str, int] = {}
        distinct = [part.take(_add_rows(part.keys, row_of)) for part in parts]
        sources, targets = [part.source for part in distinct], [part.target for part in distinct]
        vocabularies = vocabularies or (Vocabulary.of(*sources), Vocabulary.of(*targets))
        return cls(
            *vocabularies,
            _encode(vocabularies[0], sources),
            _encode(vocabularies[1], targets),
            row_of,
            _concatenate([part.observations for part in distinct]),
        )

    @classmethod
    def in_order(
        cls, examples: Examples, vocabularies: Vocabularies, min_widths: tuple[int, int]
    ) -> Table:
        """Encode examples in their order, repeats included; they have row numbers, but no keys.

        Args:
            examples: Examples.
            vocabularies: The vocabularies.
            min_widths: Minimum columns of sources and of targets, END included.
        """
        sides = zip(vocabularies, (examples.source, examples.target), min_widths, strict=True)
        source, target = (
            _encode(vocabulary, [column], width) for vocabulary, column, width in sides
        )
        return cls(*vocabularies, source, target, {})

    @property
    def vocabularies(self) -> Vocabularies:
        """Both vocabularies."""
        return self.sources, self.targets

    @cached_property
    def source_lengths(self) -> NDArray[np.int64]:
        """Tokens of each source, END included: shape [count]."""
        return np.count_nonzero(self.source, axis=1)

    @cached_property
    def target_lengths(self) -> NDArray[np.int64]:
        """Tokens of each target, END included: shape [count]."""
        return np.count_nonzero(self.target, axis=1)

    def rows(self, examples: Examples) -> Rows:
        """Return the row of each example, repeats included."""
        return np.fromiter((self.row_of[key] for key in examples.keys), np.int32, len(examples))

    def worlds(self, rows: Rows) -> NDArray[np.uint8] | None:
        """Return the cell features of the world of each row; None without worlds."""
        if self.observations is None:
            return None
        return self.observations.cell_features[self.observations.cell_ids[rows]]


def _add_rows(keys: Sequence[str], row_of: dict[str, int]) -> list[int]:
    """Add a row for each new key; return the positions of the new keys."""
    positions: list[int] = []
    for position, key in enumerate(keys):
        if key not in row_of:
            row_of[key] = len(row_of)
            positions.append(position)
    return positions


def _concatenate(parts: Sequence[GridObservations | None]) -> GridObservations | None:
    observations = [part for part in parts if part is not None]
    assert len(observations) in (0, len(parts))
    if not observations:
        return None
    cell_ids = [part.cell_ids for part in observations if len(part.cell_ids)]
    sizes = {ids.shape[1] for ids in cell_ids}
    require(len(sizes) < 2, f"grids of several sizes: {sorted(sizes)}")
    return GridObservations(np.concatenate(cell_ids), observations[0].cell_features)


def _encode(
    vocabulary: Vocabulary, columns: Sequence[Sequences], min_width: int = 0
) -> NDArray[np.unsignedinteger]:
    longest = max(int(column.lengths.max(initial=0)) for column in columns)
    width = max(longest + 1, min_width)
    dtype = np.min_scalar_type(len(vocabulary) - 1)
    return np.concatenate([vocabulary.encode(column, width).astype(dtype) for column in columns])
