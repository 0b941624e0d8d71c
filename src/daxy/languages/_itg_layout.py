"""Layout of tokens: derivations to sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Sequences, Tokens
from daxy.languages._itg_grammar import Side, tokens_of

Integers: TypeAlias = NDArray[np.int64]
NONE = -1


class Generation(NamedTuple):
    """Nodes of many derivations at one depth."""

    rule: Integers
    """Rule of each node."""
    children: Integers
    """Indices of its children in the next generation, -1 for none: [nodes, most children]."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Order of tokens and children on one side of each rule."""

    symbols: Tokens
    counts: Integers
    """Tokens of each rule's side."""
    codes: NDArray[np.uint16]
    """The tokens: [rules, most tokens]."""
    before_token: NDArray[np.bool_]
    """Children before each token: [rules, most tokens, most children]."""
    tokens_before: Integers
    """Number of tokens before each child: [rules, most children]."""
    before_child: NDArray[np.bool_]
    """Children before each child: [rules, most children, most children]."""

    @classmethod
    def of(cls, sides: Sequence[Side], symbols: Tokens) -> Layout:
        """Return the layout of one side of each rule."""
        counts = np.array([len(tokens_of(side)) for side in sides])
        most = max(1, *(len(side) - count for side, count in zip(sides, counts, strict=True)))
        width, code = int(counts.max()), {symbol: place for place, symbol in enumerate(symbols)}
        codes = np.zeros((len(sides), width), np.uint16)
        before_token = np.zeros((len(sides), width, most), bool)
        tokens_before = np.zeros((len(sides), most), np.int64)
        before_child = np.zeros((len(sides), most, most), bool)
        for row, side in enumerate(sides):
            seen, token = list[int](), 0
            for symbol in side:
                if isinstance(symbol, int):
                    tokens_before[row, symbol] = token
                    before_child[row, symbol, seen] = True
                    seen.append(symbol)
                else:
                    codes[row, token] = code[symbol]
                    before_token[row, token, seen] = True
                    token += 1
        return cls(symbols, counts, codes, before_token, tokens_before, before_child)

    def lengths(self, generations: Sequence[Generation]) -> list[Integers]:
        """Return the number of tokens below each node of each generation."""
        found = list[Integers]()
        below = np.zeros(0, np.int64)
        for own in reversed(generations):
            below = self.counts[own.rule] + of_children(own, below).sum(axis=1)
            found.append(below)
        return found[::-1]

    def written(self, generations: Sequence[Generation]) -> Sequences:
        """Return this side of all derivations."""
        lengths = [*self.lengths(generations), np.zeros(0, np.int64)]
        offsets = np.concatenate([[0], np.cumsum(lengths[0])])
        codes = np.zeros(offsets[-1], np.uint16)
        start = offsets[:-1]
        for own, below in zip(generations, lengths[1:], strict=True):
            rule, sizes = own.rule, of_children(own, below)
            for token in range(self.codes.shape[1]):
                (here,) = np.nonzero(self.counts[rule] > token)
                passed = (self.before_token[rule[here], token] * sizes[here]).sum(axis=1)
                codes[start[here] + token + passed] = self.codes[rule[here], token]
            following = np.zeros(len(below), np.int64)
            for child, place in enumerate(own.children.T):
                (here,) = np.nonzero(place != NONE)
                passed = (self.before_child[rule[here], child] * sizes[here]).sum(axis=1)
                first = start[here] + self.tokens_before[rule[here], child] + passed
                following[place[here]] = first
            start = following
        return Sequences(self.symbols, codes, offsets)


def of_children(own: Generation, below: Integers) -> Integers:
    """Return a figure of the next generation's nodes for each child of this one, 0 for none."""
    padded = np.concatenate([below, [0]])
    return padded[own.children]
