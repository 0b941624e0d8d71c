"""Token sequences as columns, and predictions with their likelihoods."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self, overload

import numpy as np
from numpy.typing import NDArray

from daxy.core.display import Brief, cut
from daxy.core.errors import require
from daxy.core.tokens import Tokens


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


def _check_count(symbols: Tokens) -> None:
    many = f"more than 65,536 distinct tokens: {len(symbols)}"
    require(len(symbols) <= 1 << 16, many)
