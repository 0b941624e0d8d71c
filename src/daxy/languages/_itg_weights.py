"""Inside weights: how likely each nonterminal is to become a source of each length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daxy.languages._itg_grammar import Grammar, Rule

Weights = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Inside:
    """Probabilities of source lengths up to a longest one; index n is for n tokens."""

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
    are (1 - U)^-1 times those of the other rules.
    """
    place = {name: number for number, name in enumerate(grammar.nonterminals)}
    whole = {name: np.zeros(longest + 1) for name in grammar.nonterminals}
    rest = [
        [np.zeros(longest + 1) for _ in range(len(rule.children) + 1)] for rule in grammar.rules
    ]
    for sums in rest:
        sums[-1][0] = 1.0
    becomes = np.zeros((len(place), len(place)))
    for rule in filter(is_unit, grammar.rules):
        becomes[place[rule.left], place[rule.children[0]]] += float(rule.probability)
    closure = np.linalg.inv(np.eye(len(place)) - becomes)
    leaves = _leaves(grammar, longest, place)
    inner = [
        (rule, sums)
        for rule, sums in zip(grammar.rules, rest, strict=True)
        if rule.children and not is_unit(rule)
    ]
    for length in range(1, longest + 1):
        found = leaves[:, length].copy()
        for rule, sums in inner:
            own = tokens(rule)
            if own == 0:
                sums[0][length] = _convolved(whole[rule.children[0]], sums[1], length)
            if own <= length:
                found[place[rule.left]] += float(rule.probability) * sums[0][length - own]
        for name, value in zip(whole, closure @ found, strict=True):
            whole[name][length] = value
        for rule, sums in zip(grammar.rules, rest, strict=True):
            for child in reversed(range(len(rule.children))):
                sums[child][length] = _convolved(
                    whole[rule.children[child]], sums[child + 1], length
                )
    return Inside(grammar, whole, rest)


def is_unit(rule: Rule) -> bool:
    """Whether a rule is one child and nothing else, in its source."""
    return len(rule.source) == 1 == len(rule.children)


def tokens(rule: Rule) -> int:
    """Return how many tokens the source of a rule has itself."""
    return len(rule.source) - len(rule.children)


def _leaves(grammar: Grammar, longest: int, place: dict[str, int]) -> Weights:
    """Return how likely each nonterminal is to become each number of tokens and nothing else."""
    found = np.zeros((len(place), longest + 1))
    for rule in grammar.rules:
        if not rule.children and tokens(rule) <= longest:
            found[place[rule.left], tokens(rule)] += float(rule.probability)
    return found


def _convolved(one: Weights, other: Weights, length: int) -> float:
    """Return how likely two parts are to have so many tokens together."""
    return float(one[: length + 1] @ other[length::-1])
