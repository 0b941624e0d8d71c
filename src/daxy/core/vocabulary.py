"""Tokens as numbers and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daxy.core.display import Brief
from daxy.core.errors import WrongRequest, quote
from daxy.core.examples import Sequences, Tokens

PAD = 0
"""No token here; also what precedes the first one."""
END = 1
"""The end of a sequence (EOS)."""
RESERVED = 2


@dataclass(frozen=True)
class Vocabulary(Brief):
    """The tokens that a network knows; token i has the code i + 2."""

    tokens: Tokens

    @classmethod
    def of(cls, *columns: Sequences) -> Vocabulary:
        """Return the vocabulary of everything that occurs in these columns, sorted."""
        used = {c.symbols[code] for c in columns for code in np.unique(c.codes)}
        return cls(tuple(sorted(used)))

    def __len__(self) -> int:
        """Return the number of codes, PAD and END included."""
        return len(self.tokens) + RESERVED

    @property
    def _brief(self) -> str:
        return f"{len(self.tokens):,} tokens: {' '.join(self.tokens[:100])}"

    def encode(self, sequences: Sequences, width: int | None = None) -> NDArray[np.uint16]:
        """Return codes of shape [count, width]: the tokens, END, then PAD.

        `width` defaults to the longest sequence and its END.

        Raises:
            WrongRequest: a token is not in the vocabulary.
        """
        lengths = sequences.lengths
        width = width or int(lengths.max(initial=0)) + 1
        assert lengths.max(initial=0) < width, "a sequence is longer than the width given"
        code_of = {token: code for code, token in enumerate(self.tokens, RESERVED)}
        used = np.unique(sequences.codes)
        known = np.zeros(len(sequences.symbols), np.uint16)
        for symbol in used:
            token = sequences.symbols[symbol]
            if token not in code_of:
                raise WrongRequest(f"the token {quote(token)} is not in the network's vocabulary")
            known[symbol] = code_of[token]
        codes = np.zeros((len(sequences), width), np.uint16)
        place = np.arange(width)
        codes[place < lengths[:, None]] = known[sequences.codes]
        codes[place == lengths[:, None]] = END
        return codes

    def decode(self, codes: NDArray[np.integer]) -> Sequences:
        """Return what stands before the first END (or PAD) of each row of [count, width] codes."""
        rows: Iterable[list[int]] = codes.tolist()
        return Sequences.of(self._before_end(row) for row in rows)

    def _before_end(self, row: list[int]) -> Tokens:
        end = next((i for i, code in enumerate(row) if code < RESERVED), len(row))
        return tuple([self.tokens[code - RESERVED] for code in row[:end]])
