"""Inversion transduction grammars and their checks."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import WrongRequest, require
from daxy.core.tokens import Tokens
from daxy.core.vocabulary import RESERVED

MOST = (1 << 16) - RESERVED
"""Maximum distinct tokens of a side, by the codes of a network."""
LEAST = sys.float_info.min
"""Minimum probability of a rule; smaller numbers lose digits."""
MOST_DIGITS = 400
"""Maximum digits of a probability's numerator and denominator."""
SHORT = 10**30
"""Numbers below it are printed exactly."""
LONGEST_CHAIN = 10_000
"""Maximum length of a chain of unit rules."""
HARDLY_EVER = 1e-9
"""Maximum probability of a longer chain, from any nonterminal."""
Side: TypeAlias = tuple[str | int, ...]
"""One side of a rule: a string is a token, a number one of the rule's children."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: a nonterminal and its expansions on both sides."""

    left: str
    probability: Fraction
    """Of this rule, given its left-hand side."""
    children: tuple[str, ...]
    """The nonterminals, in the source's order."""
    source: Side
    target: Side

    @property
    def is_unit(self) -> bool:
        """Whether its source is a single child."""
        return len(self.source) == 1 == len(self.children)

    def __str__(self) -> str:
        sides = (" ".join(map(self._named, side)) for side in (self.source, self.target))
        return f"{self.probability} {self.left} -> {' | '.join(sides)}"

    def _named(self, symbol: str | int) -> str:
        return symbol if isinstance(symbol, str) else f"{self.children[symbol]}{symbol + 1}"


@dataclass(frozen=True)
class Grammar:
    """A stochastic inversion transduction grammar, of rules of any rank (Wu 1997).

    Raises:
        WrongRequest: probabilities do not sum to 1, a nonterminal is not defined, is never reached
            or never ends, or becomes one other and that another again for too long.
    """

    rules: tuple[Rule, ...]
    """The root is the left-hand side of the first."""

    def __post_init__(self) -> None:
        require(len(self.rules) > 0, "a grammar needs a rule")
        for side in (self.source_symbols, self.target_symbols):
            require(len(side) <= MOST, f"more than {MOST:,} distinct tokens: {len(side):,}")
        self._check_probabilities()
        self._check_names()
        self._check_ends()
        self._check_chains()

    @property
    def root(self) -> str:
        """The nonterminal that every derivation begins with."""
        return self.rules[0].left

    @cached_property
    def nonterminals(self) -> tuple[str, ...]:
        """In the order in which they are defined, the root first."""
        return tuple(dict.fromkeys(rule.left for rule in self.rules))

    @cached_property
    def rules_of(self) -> dict[str, tuple[Rule, ...]]:
        """The rules of each nonterminal."""
        return {
            name: tuple(rule for rule in self.rules if rule.left == name)
            for name in self.nonterminals
        }

    @cached_property
    def source_symbols(self) -> Tokens:
        """The tokens of sources, sorted."""
        return tuple(sorted({each for rule in self.rules for each in tokens_of(rule.source)}))

    @cached_property
    def target_symbols(self) -> Tokens:
        """The tokens of targets, sorted."""
        return tuple(sorted({each for rule in self.rules for each in tokens_of(rule.target)}))

    @cached_property
    def becomes(self) -> NDArray[np.float64]:
        """Probabilities of unit rules: [parent, child]."""
        place = {name: number for number, name in enumerate(self.nonterminals)}
        found = np.zeros((len(place), len(place)))
        for rule in self.rules:
            if rule.is_unit:
                found[place[rule.left], place[rule.children[0]]] += float(rule.probability)
        return found

    @cached_property
    def expected_length(self) -> float:
        """The mean number of tokens in a source; infinite where derivations may never end.

        With M the mean number of each nonterminal that another becomes and t of tokens, lengths are
        (1 - M)^-1 t as long as no eigenvalue of M reaches 1.
        """
        place = {name: number for number, name in enumerate(self.nonterminals)}
        become, tokens = np.zeros((len(place), len(place))), np.zeros(len(place))
        for rule in self.rules:
            tokens[place[rule.left]] += rule.probability * len(tokens_of(rule.source))
            for child in rule.children:
                become[place[rule.left], place[child]] += float(rule.probability)
        if np.abs(np.linalg.eigvals(become)).max() >= 1 - 1e-12:
            return float("inf")
        return float(np.linalg.solve(np.eye(len(place)) - become, tokens)[0])

    def _check_probabilities(self) -> None:
        alike = Counter((rule.left, rule.children, rule.source, rule.target) for rule in self.rules)
        for rule in self.rules:
            short = max(map(abs, rule.probability.as_integer_ratio())) < 10**MOST_DIGITS
            require(short, f"a probability of {rule.left} has more than {MOST_DIGITS} digits")
            require(0 < rule.probability <= 1, f"a probability is not between 0 and 1: {rule}")
            small = f"a probability of {rule.left} is below {LEAST:.4g}"
            require(rule.probability >= LEAST, small)
            once = alike[rule.left, rule.children, rule.source, rule.target] == 1
            require(once, f"a rule is said more than once: {rule}")
        for name, rules in self.rules_of.items():
            total = sum((rule.probability for rule in rules), Fraction(0))
            require(total == 1, f"the probabilities of {name} sum to {_as_text(total)}, not to 1")

    def _check_names(self) -> None:
        for rule in self.rules:
            unknown = dict.fromkeys(c for c in rule.children if c not in self.rules_of)
            require(not unknown, f"{', '.join(unknown)} is not defined: {rule}")
            require(all(map(len, (rule.source, rule.target))), f"a side has nothing: {rule}")
            complete = sorted(_children(rule.source)) == sorted(_children(rule.target))
            require(complete, f"the two sides do not have the same nonterminals: {rule}")
        reached, new = {self.root}, [self.root]
        while new:
            found = {
                child for rule in self.rules_of[new.pop()] for child in rule.children
            } - reached
            reached |= found
            new += found
        lost = [name for name in self.nonterminals if name not in reached]
        require(not lost, f"{self.root} never becomes {', '.join(lost)}")

    def _check_ends(self) -> None:
        ending = set[str]()
        while True:
            found = {rule.left for rule in self.rules if {*rule.children} <= ending}
            if found == ending:
                break
            ending = found
        endless = [name for name in self.nonterminals if name not in ending]
        if endless:
            raise WrongRequest(f"no derivation of {', '.join(endless)} ever ends")

    def _check_chains(self) -> None:
        chained = np.flatnonzero(self.becomes.any(axis=1))
        if not chained.size:
            return
        on = np.linalg.matrix_power(self.becomes[np.ix_(chained, chained)], LONGEST_CHAIN - 1)
        longer = on @ self.becomes[chained].sum(axis=1)
        endless = chained[longer >= HARDLY_EVER]
        if endless.size:
            several = f"can become {LONGEST_CHAIN:,} nonterminals one after another"
            less = "with nothing beside them in the source: make that less likely"
            raise WrongRequest(f"{self.nonterminals[endless[0]]} {several} {less}")


def tokens_of(side: Side) -> Tokens:
    """Return the tokens of one side of a rule."""
    return tuple(symbol for symbol in side if isinstance(symbol, str))


def _as_text(total: Fraction) -> str:
    short = max(total.as_integer_ratio()) < SHORT
    return str(total) if short else f"about {float(total):.16g}"


def _children(side: Side) -> list[int]:
    return [symbol for symbol in side if isinstance(symbol, int)]
