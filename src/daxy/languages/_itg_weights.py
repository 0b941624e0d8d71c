"""Inside weights: log probability of each source length for each nonterminal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daxy.languages._itg_grammar import Grammar, tokens_of

Weights = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Inside:
    """Logarithms of probabilities of source lengths up to a longest; index n is for n tokens."""

    grammar: Grammar
    whole: Mapping[str, Weights]
    """By nonterminal: shape [longest + 1]."""
    together: Mapping[tuple[str, ...], Weights]
    """By suffix of a rule's children: shape [longest + 1]."""

    @property
    def longest(self) -> int:
        """The longest source."""
        return len(self.whole[self.grammar.root]) - 1


def inside(grammar: Grammar, longest: int) -> Inside:
    """Return the inside weights of sources of up to `longest` tokens.

    Sources are not empty, so a rule with tokens or two children only needs shorter lengths. With U
    the probabilities of unit rules, weights are (1 - U)^-1 = 1 + U + U^2 + ... times those of the
    other rules.
    """
    names = grammar.nonterminals
    whole = {name: np.full(longest + 1, -np.inf) for name in names}
    none = np.full(longest + 1, -np.inf)
    none[0] = 0.0
    together: dict[tuple[str, ...], Weights] = {(): none}
    together |= {(name,): weights for name, weights in whole.items()}
    for rule in grammar.rules:
        for child in range(len(rule.children) - 1):
            together.setdefault(rule.children[child:], np.full(longest + 1, -np.inf))
    several = [(children, sums) for children, sums in together.items() if len(children) > 1]
    ways = [_Ways.of(grammar, name) for name in names]
    with np.errstate(divide="ignore"):
        chains = np.log(_chains(grammar.becomes))
    for length in range(1, longest + 1):
        for (first, *others), sums in several:
            sums[length] = _convolved(whole[first], together[tuple(others)], length)
        found = np.array([_sum(each.weights(together, length)) for each in ways])
        found = [_sum(row + found) for row in chains]
        for name, value in zip(names, found, strict=True):
            whole[name][length] = value
    return Inside(grammar, whole, together)


@dataclass(frozen=True, eq=False)
class _Ways:
    """Rules of a nonterminal, without unit rules."""

    tokens: NDArray[np.int64]
    """Number of tokens in each rule's own source."""
    without_children: Weights
    """The logarithm of each rule's probability, or of 0 where it has children."""
    with_children: list[tuple[int, float, tuple[str, ...]]]
    """Of the other rules: which it is, the logarithm of its probability, and its children."""

    @classmethod
    def of(cls, grammar: Grammar, name: str) -> _Ways:
        rules = [rule for rule in grammar.rules_of[name] if not rule.is_unit]
        log = [math.log(rule.probability) for rule in rules]
        return cls(
            np.array([len(tokens_of(rule.source)) for rule in rules], np.int64),
            np.array([-np.inf if r.children else own for r, own in zip(rules, log, strict=True)]),
            [(n, log[n], rule.children) for n, rule in enumerate(rules) if rule.children],
        )

    def weights(self, together: Mapping[tuple[str, ...], Weights], length: int) -> Weights:
        """Return how likely each rule that is short enough is to have a length."""
        found = np.where(self.tokens == length, self.without_children, -np.inf)
        for number, own, children in self.with_children:
            left = length - self.tokens[number]
            found[number] = own + together[children][left] if left >= 0 else -np.inf
        return found[self.tokens <= length]


def _chains(becomes: Weights) -> Weights:
    """Return 1 + U + U^2 + ...: products of 1 + U, 1 + U^2, 1 + U^4 and so on.

    No term is negative, so that impossible chains are exactly 0, unlike in an inverse.
    """
    found, power = np.eye(len(becomes)), becomes
    while power.any():
        found = found + found @ power
        power = power @ power
    return found


def _convolved(one: Weights, other: Weights, length: int) -> float:
    return _sum(one[: length + 1] + other[length::-1])


def _sum(logarithms: Weights) -> float:
    most = float(logarithms.max(initial=-np.inf))
    if most == -np.inf:
        return most
    return most + math.log(np.exp(logarithms - most).sum())
