"""Source-target pairs: one as a value, many as columns."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, Self, overload

import numpy as np
from numpy.typing import NDArray

from daxy.core.display import Brief, cut, table
from daxy.core.errors import require
from daxy.core.tokens import Tokens

if TYPE_CHECKING:
    from daxy.core.conversions import Arrays

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
class Sequences(Sequence[Tokens], Brief):
    """Many token sequences as three flat columns, laid out as an Arrow list of dictionary values.

    Sequence i is `symbols[codes[offsets[i]:offsets[i + 1]]]`.
    """

    symbols: Tokens
    """The distinct tokens that codes point into, sorted."""
    codes: NDArray[np.uint16]
    """Positions in `symbols`, all sequences one after another."""
    offsets: NDArray[np.int64]
    """Start of each sequence, and the end of the last: shape [count + 1]."""

    @classmethod
    def of(cls, sequences: Iterable[Sequence[str]], symbols: Tokens | None = None) -> Sequences:
        """Build the columns from tokens.

        Args:
            sequences: The rows.
            symbols: The sorted dictionary; by default, of the tokens that occur.

        Raises:
            WrongRequest: there are more than 65,536 distinct tokens.
        """
        rows = list(sequences)
        if symbols is None:
            symbols = tuple(sorted(set(itertools.chain.from_iterable(rows))))
        _check_count(symbols)
        code_of = {symbol: code for code, symbol in enumerate(symbols)}
        lengths = np.fromiter((len(row) for row in rows), np.int64, len(rows))
        coded = map(code_of.__getitem__, itertools.chain.from_iterable(rows))
        codes = np.fromiter(coded, np.uint16, lengths.sum())
        return cls(symbols, codes, np.concatenate([[0], np.cumsum(lengths)]))

    @classmethod
    def joined(cls, parts: Sequence[Sequences]) -> Sequences:
        """Concatenate sequences; their dictionaries may differ.

        Raises:
            WrongRequest: there are more than 65,536 distinct tokens.
        """
        symbols = cls.common_symbols(parts)
        lengths = np.concatenate([part.lengths for part in parts])
        codes = np.concatenate([part.within(symbols).codes for part in parts])
        return cls(symbols, codes, np.concatenate([[0], np.cumsum(lengths)]))

    @staticmethod
    def common_symbols(parts: Sequence[Sequences]) -> Tokens:
        """Return a dictionary of all parts: their own if they share one.

        Raises:
            WrongRequest: there are more than 65,536 distinct tokens.
        """
        symbols = parts[0].symbols
        if any(part.symbols != symbols for part in parts):
            symbols = tuple(sorted({symbol for part in parts for symbol in part.symbols}))
            _check_count(symbols)
        return symbols

    def within(self, symbols: Tokens) -> Self:
        """Return equal sequences with another dictionary, which has all their tokens."""
        if self.symbols == symbols:
            return self
        codes = self.codes_in(symbols)
        assert codes.min(initial=0) >= 0
        return replace(self, symbols=symbols, codes=codes.astype(np.uint16))

    @property
    def _brief(self) -> str:
        between = ", " if any(" " in symbol for symbol in self.symbols) else " "
        first = f": {cut(between.join(self[0]), 40)}" if len(self) else ""
        tokens = f"{len(self.symbols):,} distinct tokens"
        return f"{len(self):,} of {tokens}{first}{', ...' * (len(self) > 1)}"

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens in each sequence: shape [count]."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Tokens: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Tokens | Self:
        if isinstance(index, slice):
            rows = range(len(self))[index]
            return self._slice(rows) if rows.step == 1 else self.take(rows)
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        row = self.codes[self.offsets[index] : self.offsets[index + 1]]
        return tuple(self.symbols[code] for code in row)

    def __iter__(self) -> Iterator[Tokens]:
        tokens = tuple(map(self.symbols.__getitem__, self.codes.tolist()))
        for start, end in itertools.pairwise(self.offsets.tolist()):
            yield tokens[start:end]

    def codes_in(self, symbols: Tokens) -> NDArray[np.int32]:
        """Return the codes as positions in another dictionary, -1 for missing tokens."""
        code_of = {symbol: code for code, symbol in enumerate(symbols)}
        table = np.array([code_of.get(symbol, -1) for symbol in self.symbols], np.int32)
        return table[self.codes]

    def take(self, rows: NDArray[np.integer] | Sequence[int]) -> Self:
        """Return the sequences at these positions, in this order, repeats included."""
        rows = np.asarray(rows, np.int64)
        lengths = self.lengths[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        codes = self.codes[np.repeat(self.offsets[:-1][rows], lengths) + within]
        return replace(self, codes=codes, offsets=offsets)

    def _slice(self, rows: range) -> Self:
        """Return consecutive sequences as views of these columns."""
        stop = max(rows.start, rows.stop)
        offsets = self.offsets[rows.start : stop + 1]
        codes = self.codes[offsets[0] : offsets[-1]]
        return replace(self, codes=codes, offsets=offsets - offsets[0])

    def matches(self, others: Sequences) -> NDArray[np.bool_]:
        """Return where these sequences equal as many others: shape [count]."""
        assert len(self) == len(others), (len(self), len(others))
        equal = self.lengths == others.lengths
        rows = np.flatnonzero(equal)
        ours, theirs = self.take(rows), others.take(rows)
        differs = ours.codes != theirs.codes_in(ours.symbols)
        row_of_token = np.repeat(np.arange(len(rows)), ours.lengths)
        equal[rows] = np.bincount(row_of_token[differs], minlength=len(rows)) == 0
        return equal

    def renamed(self, rename: Callable[[str], str]) -> Self:
        """Return the sequences with renamed tokens."""
        new = [rename(symbol) for symbol in self.symbols]
        symbols = tuple(sorted(set(new)))
        code_of = {symbol: code for code, symbol in enumerate(symbols)}
        table = np.array([code_of[symbol] for symbol in new], np.uint16)
        return replace(self, symbols=symbols, codes=table[self.codes])

    @property
    def content(self) -> Iterator[bytes]:
        """Bytes for a checksum of the tokens and their order."""
        compact = self.compact()
        yield "\n".join(compact.symbols).encode()
        yield compact.lengths.astype("<i8").tobytes()
        yield compact.codes.astype("<u2").tobytes()

    def compact(self) -> Self:
        """Return equal sequences whose dictionary has only the tokens that occur."""
        used = np.unique(self.codes)
        symbols = tuple(self.symbols[code] for code in used)
        codes = np.searchsorted(used, self.codes).astype(np.uint16)
        return replace(self, symbols=symbols, codes=codes)


@dataclass(frozen=True, eq=False)
class Predictions(Sequences):
    """Predicted sequences, with log-likelihoods where the learner has them."""

    log_likelihood: NDArray[np.float64] | None = None
    """Natural logarithm of the probability of each example's target, its end included: [count]."""

    @classmethod
    def of_sequences(cls, sequences: Sequences) -> Predictions:
        """Return sequences as predictions; predictions as they are."""
        if isinstance(sequences, Predictions):
            return sequences
        return cls(sequences.symbols, sequences.codes, sequences.offsets)

    def take(self, rows: NDArray[np.integer] | Sequence[int]) -> Self:
        """Return the predictions at these positions, in this order, repeats included."""
        return self._with_likelihoods(super().take(rows), np.asarray(rows, np.int64))

    def _slice(self, rows: range) -> Self:
        return self._with_likelihoods(super()._slice(rows), slice(rows.start, rows.stop))

    def _with_likelihoods(self, part: Self, rows: NDArray[np.int64] | slice) -> Self:
        values = self.log_likelihood
        return part if values is None else replace(part, log_likelihood=values[rows])


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
        from daxy.core import conversions

        return conversions.to_pandas(self)

    def to_datasets(self) -> Any:
        """Return a `datasets.Dataset` with the columns of `to_pandas`.

        Raises:
            MissingPackage: `datasets` is not installed.
        """
        from daxy.core import conversions

        return conversions.to_datasets(self)

    def numpy(self, *, pad: int = 0) -> Arrays:
        """Return padded arrays of codes: token i of `source.symbols` is i + 2, the end is 1.

        Args:
            pad: Code after the end, 0 or negative, as a loss ignores it.

        Raises:
            WrongRequest: `pad` is the code of a token, or the grids of worlds differ in size.
        """
        from daxy.core import conversions

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
        from daxy.core import conversions

        return conversions.to_loader(
            self, batch_size=batch_size, pad=pad, shuffle=shuffle, seed=seed, options=options
        )

    def swapped(self) -> Examples:
        """Return the pairs with source and target exchanged (Bastings et al. 2018, section 4)."""
        return Examples(self.target, self.source, self.worlds)


def _check_count(symbols: Tokens) -> None:
    many = f"more than 65,536 distinct tokens: {len(symbols)}"
    require(len(symbols) <= 1 << 16, many)


def _tokens(side: Sequence[str]) -> Sequence[str]:
    return side.split() if isinstance(side, str) else side
