"""Inside weights: how likely each nonterminal is to become a source of each length.

As logarithms: a long source of a grammar that prefers short ones may be less likely than any number
that a machine can hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daxy.languages._itg_grammar import Grammar, Rule

Weights = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Inside:
    """Logarithms of probabilities of source lengths up to a longest; index n is for n tokens."""

    grammar: Grammar
    whole: dict[str, Weights]
    """Of each nonterminal: shape [longest + 1]."""
    rest: list[list[Weights]]
    """Of each rule, that its children from each on have so many tokens together: [longest + 1] for
    each child, and one more for none."""

    @property
    def longest(self) -> int:
        """The longest source."""
        return len(self.whole[self.grammar.root]) - 1


def inside(grammar: Grammar, longest: int) -> Inside:
    """Return the inside weights of sources of up to `longest` tokens.

    A source has at least a token, so a rule with tokens or two children only needs shorter ones.
    What is left are the rules that are one child: with U their probabilities, weights of a length
    are (1 - U)^-1 = 1 + U + U^2 + ... times those of the other rules.
    """
    names, rules = grammar.nonterminals, grammar.rules
    log = [math.log(rule.probability) for rule in rules]
    whole = {name: np.full(longest + 1, -np.inf) for name in names}
    rest = [[np.full(longest + 1, -np.inf) for _ in (*rule.children, None)] for rule in rules]
    for sums in rest:
        sums[-1][0] = 0.0
    with np.errstate(divide="ignore"):
        chains = np.log(_chains(grammar.becomes))
    for length in range(1, longest + 1):
        ways: dict[str, list[float]] = {name: [] for name in names}
        for rule, sums, own in zip(rules, rest, log, strict=True):
            if len(rule.children) == len(rule.source) > 1:
                sums[0][length] = _convolved(whole[rule.children[0]], sums[1], length)
            if tokens(rule) <= length and not rule.is_unit:
                ways[rule.left].append(own + sums[0][length - tokens(rule)])
        found = np.array([_sum(np.array(own)) for own in ways.values()])
        found = [_sum(row + found) for row in chains]
        for name, value in zip(names, found, strict=True):
            whole[name][length] = value
        for rule, sums in zip(rules, rest, strict=True):
            for child in reversed(range(len(rule.children))):
                first = whole[rule.children[child]]
                sums[child][length] = _convolved(first, sums[child + 1], length)
    return Inside(grammar, whole, rest)


def _chains(becomes: Weights) -> Weights:
    """Return 1 + U + U^2 + ...: products of 1 + U, 1 + U^2, 1 + U^4 and so on.

    No term is negative, so that what cannot be comes to exactly 0, as in no inverse.
    """
    found, power = np.eye(len(becomes)), becomes
    while power.any():
        found = found + found @ power
        power = power @ power
    return found


def tokens(rule: Rule) -> int:
    """Return how many tokens the source of a rule has itself."""
    return len(rule.source) - len(rule.children)


def _convolved(one: Weights, other: Weights, length: int) -> float:
    """Return how likely two parts are to have so many tokens together."""
    return _sum(one[: length + 1] + other[length::-1])


def _sum(logarithms: Weights) -> float:
    """Return the logarithm of a sum of numbers, given theirs."""
    most = float(logarithms.max(initial=-np.inf))
    if most == -np.inf:
        return most
    return most + math.log(np.exp(logarithms - most).sum())
