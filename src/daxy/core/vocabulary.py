"""Vocabularies: tokens to codes and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daxy.core.display import Brief
from daxy.core.errors import WrongRequest, did_you_mean, nearest, quote, require
from daxy.core.sequences import Sequences
from daxy.core.tokens import Tokens

PAD = 0
"""Padding; also the input before the first token."""
END = 1
"""The end of a sequence (EOS)."""
RESERVED = 2
MOST = (1 << 16) - RESERVED
"""Maximum number of tokens."""
NAMED, FEW = 3, 20
"""Maximum unknown tokens in a message, and maximum known tokens that it lists."""


@dataclass(frozen=True)
class Vocabulary(Brief):
    """The tokens of a network; token i has the code i + 2."""

    tokens: Tokens

    @classmethod
    def of(cls, *columns: Sequences) -> Vocabulary:
        """Return the vocabulary of the tokens in these columns, sorted."""
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
            WrongRequest: a token is not in the vocabulary, or there are too many for 16 bits.
        """
        count = len(self.tokens)
        require(count <= MOST, f"there are {count:,} distinct tokens; at most {MOST:,} have codes")
        lengths = sequences.lengths
        width = width or int(lengths.max(initial=0)) + 1
        assert lengths.max(initial=0) < width, "a sequence is longer than the width given"
        code_of = {token: code for code, token in enumerate(self.tokens, RESERVED)}
        used = np.unique(sequences.codes)
        known = np.zeros(len(sequences.symbols), np.uint16)
        unknown = [it for it in used if sequences.symbols[it] not in code_of]
        if unknown:
            raise WrongRequest(self._unknown([sequences.symbols[it] for it in unknown]))
        for symbol in used:
            known[symbol] = code_of[sequences.symbols[symbol]]
        codes = np.zeros((len(sequences), width), np.uint16)
        place = np.arange(width)
        codes[place < lengths[:, None]] = known[sequences.codes]
        codes[place == lengths[:, None]] = END
        return codes

    def split(self, text: str) -> Tokens:
        """Split a text at spaces, by the longest known token: gSCAN's `while spinning` is one."""
        words, tokens = text.split(), list[str]()
        longest = max((token.count(" ") for token in self.tokens), default=0) + 1
        known = set(self.tokens)
        while words:
            sizes = range(min(longest, len(words)), 1, -1)
            size = next((size for size in sizes if " ".join(words[:size]) in known), 1)
            tokens.append(" ".join(words[:size]))
            words = words[size:]
        return tuple(tokens)

    def joined(self, tokens: Tokens) -> str:
        """Return tokens as text, with commas where a known token has a space."""
        return (", " if any(" " in token for token in self.tokens) else " ").join(tokens)

    def _unknown(self, tokens: Sequence[str]) -> str:
        shown = list[str]()
        for token in tokens[:NAMED]:
            near = nearest(token, self.tokens)
            known = f"known: {', '.join(self.tokens)}" if len(self.tokens) <= FEW else ""
            hint = did_you_mean(near) if near else known
            named = f"the token {quote(token, most=60)} is not in the network's vocabulary"
            shown.append("; ".join(filter(None, (named, hint))))
        more = len(tokens) - NAMED
        return "; ".join([*shown, *([f"and {more:,} others"] if more > 0 else [])])

    def decode(self, codes: NDArray[np.integer]) -> Sequences:
        """Return the tokens before the first END or PAD of each row of codes: [count, width]."""
        rows: Iterable[list[int]] = codes.tolist()
        return Sequences.of(self._before_end(row) for row in rows)

    def _before_end(self, row: list[int]) -> Tokens:
        end = next((i for i, code in enumerate(row) if code < RESERVED), len(row))
        return tuple([self.tokens[code - RESERVED] for code in row[:end]])
