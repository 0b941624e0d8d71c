"""Source-target pairs: one as a value, many as columns."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self, overload

import numpy as np
from numpy.typing import NDArray

from daxy.core import conversions
from daxy.core.conversions import Arrays
from daxy.core.display import Brief, cut, table
from daxy.core.sequences import Predictions, Sequences
from daxy.core.tokens import Tokens

__all__ = [
    "Example",
    "Examples",
    "GridObservations",
    "Predictions",
    "Sequences",
    "Tokens",
    "Worlds",
    "key_of",
]

SHOWN = 5
"""Examples of a table that a notebook shows."""
PICTURES = 3
"""Pictures of worlds that a notebook shows."""


@dataclass(frozen=True, slots=True)
class Example(Brief):
    """One source-target pair; splits, predictions and reports refer to it by `key`."""

    key: str
    source: Tokens
    target: Tokens
    world: Any = None
    """World that the source refers to, a `daxy.worlds.world.World`; None where there is none."""

    @property
    def texts(self) -> tuple[str, str]:
        """Source and target as text; actions in a world, such as `turn left`, need commas."""
        between = " " if self.world is None else ", "
        return " ".join(self.source), between.join(self.target)

    @property
    def _brief(self) -> str:
        return " -> ".join(cut(text, 35) for text in self.texts)

    def _repr_svg_(self) -> str | None:
        return None if self.world is None else self.world.picture(self.source, self.target)


def key_of(source: Tokens, target: Tokens, context: bytes = b"") -> str:
    """Return the content-derived key of a pair: 16 hexadecimal digits.

    `context` is the content of an example's world, if it has one.
    """
    content = " ".join(source) + "\t" + " ".join(target)
    return hashlib.blake2b(content.encode() + context, digest_size=8).hexdigest()


@dataclass(frozen=True, eq=False)
class GridObservations:
    """Observations of grids: an id for each cell, and the features of each id."""

    cell_ids: NDArray[np.uint8]
    """Shape [count, row, column]."""
    cell_features: NDArray[np.uint8]
    """Shape [ids, channels]."""


class Worlds(Protocol):
    """A column of worlds, as `daxy.worlds.columns.Worlds`."""

    @property
    def contents(self) -> Iterator[bytes]:
        """Bytes of each world, equal for equal worlds only."""
        ...

    @property
    def content(self) -> Iterator[bytes]:
        """Bytes for a checksum of the worlds and their order."""
        ...

    @property
    def observations(self) -> GridObservations:
        """Observations of a network."""
        ...

    @property
    def arrow_columns(self) -> dict[str, Any]:
        """Columns of an Arrow table, by name."""
        ...

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, index: slice) -> Self: ...

    def take(self, rows: NDArray[np.integer] | Sequence[int]) -> Self:
        """Return the worlds at these positions, in this order, repeats included."""
        ...

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the worlds of all parts, one after another."""
        ...


@dataclass(frozen=True, eq=False)
class Examples(Sequence[Example], Brief):
    """A columnar table of source-target pairs."""

    source: Sequences
    target: Sequences
    worlds: Worlds | None = None
    """Worlds that the sources refer to; None where there are none."""

    def __post_init__(self) -> None:
        assert len(self.source) == len(self.target), (len(self.source), len(self.target))
        if self.worlds is not None:
            assert len(self.worlds) == len(self.source), (len(self.worlds), len(self.source))

    @classmethod
    def of(cls, pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Examples:
        """Build the table from pairs of a source and a target.

        Args:
            pairs: Each side as tokens, or as a text with spaces between them.
        """
        rows = list(pairs)
        sources, targets = ([_tokens(row[side]) for row in rows] for side in (0, 1))
        return cls(Sequences.of(sources), Sequences.of(targets))

    @classmethod
    def joined(cls, parts: Sequence[Examples]) -> Examples:
        """Concatenate examples."""
        worlds = [part.worlds for part in parts if part.worlds is not None]
        assert len(worlds) in (0, len(parts))
        return cls(
            Sequences.joined([part.source for part in parts]),
            Sequences.joined([part.target for part in parts]),
            type(worlds[0]).joined(worlds) if worlds else None,
        )

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Key of each example, equal for equal pairs in equal worlds."""
        contexts = itertools.repeat(b"") if self.worlds is None else self.worlds.contents
        return tuple(map(key_of, self.source, self.target, contexts))

    def __len__(self) -> int:
        return len(self.source)

    @staticmethod
    def with_common_symbols(parts: Sequence[Examples]) -> list[Examples]:
        """Return the same examples with one dictionary of sources and one of targets.

        Raises:
            WrongRequest: there are more than 65,536 distinct tokens.
        """
        source = Sequences.common_symbols([part.source for part in parts])
        target = Sequences.common_symbols([part.target for part in parts])
        return [part._within(source, target) for part in parts]

    def _within(self, source: Tokens, target: Tokens) -> Examples:
        if (self.source.symbols, self.target.symbols) == (source, target):
            return self  # with its keys
        return replace(self, source=self.source.within(source), target=self.target.within(target))

    @property
    def _brief(self) -> str:
        first = f": {' -> '.join(cut(text, 35) for text in self[0].texts)}" if len(self) else ""
        return f"{len(self):,}{first}{', ...' * (len(self) > 1)}"

    def _repr_html_(self) -> str:
        first = self[: SHOWN if self.worlds is None else PICTURES]
        if self.worlds is not None:
            pictures = "".join(each.world.picture(each.source, each.target) for each in first)
            return (
                f"<div><strong>{len(self):,} examples</strong></div>"
                f'<div style="display:flex;flex-wrap:wrap;gap:1em">{pictures}</div>'
            )
        rows = [example.texts for example in first]
        return table(("source", "target"), rows, title=f"{len(self):,} examples")

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> Examples: ...
    def __getitem__(self, index: int | slice) -> Example | Examples:
        if isinstance(index, slice):
            worlds = None if self.worlds is None else self.worlds[index]
            return Examples(self.source[index], self.target[index], worlds)
        if self.worlds is not None:
            first = range(len(self))[index]
            return next(iter(self[first : first + 1]))
        source, target = self.source[index], self.target[index]
        return Example(key_of(source, target), source, target)

    def __iter__(self) -> Iterator[Example]:
        worlds = itertools.repeat(None) if self.worlds is None else self.worlds
        return map(Example, self.keys, self.source, self.target, worlds)

    @property
    def observations(self) -> GridObservations | None:
        """Observations of the worlds; None without worlds."""
        return None if self.worlds is None else self.worlds.observations

    @property
    def content(self) -> Iterator[bytes]:
        """Bytes for a checksum of the examples and their order."""
        yield from self.source.content
        yield from self.target.content
        if self.worlds is not None:
            yield from self.worlds.content

    def take(self, rows: NDArray[np.integer] | Sequence[int]) -> Examples:
        """Return the examples at these positions, in this order, repeats included."""
        worlds = None if self.worlds is None else self.worlds.take(rows)
        return Examples(self.source.take(rows), self.target.take(rows), worlds)

    def to_pandas(self) -> Any:
        """Return a `DataFrame` of pandas: `key`, `source` and `target`, and columns of worlds.

        `daxy.pairs` reads it again.

        Raises:
            MissingPackage: pandas is not installed.
        """
        return conversions.to_pandas(self)

    def to_datasets(self) -> Any:
        """Return a `datasets.Dataset` with the columns of `to_pandas`.

        Raises:
            MissingPackage: `datasets` is not installed.
        """
        return conversions.to_datasets(self)

    def numpy(self, *, pad: int = 0) -> Arrays:
        """Return padded arrays of codes: token i of `source.symbols` is i + 2, the end is 1.

        Args:
            pad: Code after the end, 0 or negative, as a loss ignores it.

        Raises:
            WrongRequest: `pad` is the code of a token, or the grids of worlds differ in size.
        """
        return conversions.to_numpy(self, pad)

    def torch(
        self,
        *,
        batch_size: int = 32,
        pad: int = 0,
        shuffle: bool = False,
        seed: int = 0,
        **options: Any,
    ) -> Any:
        """Return a `DataLoader` of PyTorch; batches are as wide as their longest example.

        A batch is a dict: `keys`; `source` and `target`, codes of shape [batch, width]; their
        `source_mask`, `source_lengths`, `target_mask` and `target_lengths`; and `worlds`, floats of
        shape [batch, row, column, channel], where there are worlds. Codes are those of `numpy`.

        Args:
            batch_size: Examples in a batch.
            pad: Code after the end, 0 or negative, as a loss ignores it.
            shuffle: Whether each epoch has an order of its own.
            seed: Seed of these orders.
            options: Other arguments of `DataLoader`.

        Raises:
            MissingPackage: PyTorch is not installed.
            WrongRequest: `pad` is the code of a token.
        """
        return conversions.to_loader(
            self, batch_size=batch_size, pad=pad, shuffle=shuffle, seed=seed, options=options
        )

    def swapped(self) -> Examples:
        """Return the pairs with source and target exchanged (Bastings et al. 2018, section 4)."""
        return Examples(self.target, self.source, self.worlds)


def _tokens(side: Sequence[str]) -> Sequence[str]:
    return side.split() if isinstance(side, str) else side
