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
"""Positions in a table."""

Words = tuple[Vocabulary, Vocabulary]
"""Of the sources and of the targets."""


@dataclass(frozen=True, eq=False)
class Table:
    """Source and target codes, each row one distinct example; oversampling is a repeated row.

    Codes take a byte where there are few enough of them.
    """

    sources: Vocabulary
    targets: Vocabulary
    source: NDArray[np.unsignedinteger]
    """Shape [count, longest source + END]."""
    target: NDArray[np.unsignedinteger]
    """Shape [count, longest target + END]."""
    row_of: dict[str, int]
    """The row of each example's key."""
    views: GridObservations | None = None
    """What is seen beside each source."""

    @classmethod
    def of(cls, parts: Sequence[Examples], words: Words | None = None) -> Table:
        """Encode everything that occurs in these parts.

        Args:
            parts: They.
            words: What sources and targets are written in; what occurs unless given.

        Raises:
            WrongRequest: their worlds have grids of several sizes.
        """
        row_of: dict[str, int] = {}
        distinct = [part.take(_first_rows(part.keys, row_of)) for part in parts]
        sources, targets = [part.source for part in distinct], [part.target for part in distinct]
        source_words, target_words = words or (Vocabulary.of(*sources), Vocabulary.of(*targets))
        return cls(
            source_words,
            target_words,
            _stack(source_words, sources),
            _stack(target_words, targets),
            row_of,
            _joined([part.observations for part in distinct]),
        )

    @classmethod
    def in_order(cls, examples: Examples, words: Words, widths: tuple[int, int]) -> Table:
        """Encode examples as they come, repeats included, to be met by their place alone.

        Args:
            examples: They.
            words: What sources and targets are written in.
            widths: Of a source and of a target with their END, at least.
        """
        sides = zip(words, (examples.source, examples.target), widths, strict=True)
        source, target = (_stack(own, [column], width) for own, column, width in sides)
        return cls(*words, source, target, {})

    @cached_property
    def source_lengths(self) -> NDArray[np.int64]:
        """Tokens of each source and its END: shape [count]."""
        return np.count_nonzero(self.source, axis=1)

    @cached_property
    def target_lengths(self) -> NDArray[np.int64]:
        """Tokens of each target and its END: shape [count]."""
        return np.count_nonzero(self.target, axis=1)

    def rows(self, examples: Examples) -> Rows:
        """Return the row of each example, repeats included."""
        found = (self.row_of[key] for key in examples.keys)
        return np.fromiter(found, np.int32, len(examples))


def _first_rows(keys: Sequence[str], row_of: dict[str, int]) -> list[int]:
    """Return where new keys occur first, and give each the next row."""
    fresh: list[int] = []
    for place, key in enumerate(keys):
        if key not in row_of:
            row_of[key] = len(row_of)
            fresh.append(place)
    return fresh


def _joined(views: Sequence[GridObservations | None]) -> GridObservations | None:
    known = [each for each in views if each is not None]
    assert len(known) in (0, len(views))
    if not known:
        return None
    sizes = {each.cell_ids.shape[1] for each in known if len(each.cell_ids)}
    require(len(sizes) < 2, f"grids of several sizes: {sorted(sizes)}")
    return GridObservations(
        np.concatenate([each.cell_ids for each in known if len(each.cell_ids)]),
        known[0].cell_features,
    )


def _stack(
    words: Vocabulary, columns: Sequence[Sequences], least: int = 0
) -> NDArray[np.unsignedinteger]:
    longest = max(int(column.lengths.max(initial=0)) for column in columns)
    width = max(longest + 1, least)
    smallest = np.min_scalar_type(len(words) - 1)
    return np.concatenate([words.encode(column, width).astype(smallest) for column in columns])
