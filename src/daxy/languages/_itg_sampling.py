"""Exact samples of a grammar, given source lengths.

A derivation is drawn from the root down: a rule by its inside weight at the length, then the split
of the remaining tokens among its children. Nothing is rejected. All derivations are drawn in
parallel, one generation of nodes at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import require
from daxy.core.examples import Examples
from daxy.core.settings import check_types
from daxy.languages._itg_grammar import Grammar, tokens_of
from daxy.languages._itg_layout import NONE, Generation, Integers, Layout
from daxy.languages._itg_weights import Inside, Weights, inside


@dataclass(frozen=True, eq=False)
class Sampler:
    """Sampler of a grammar, for sources up to a maximum length."""

    weights: Inside

    @classmethod
    def of(cls, grammar: Grammar, max_length: int) -> Sampler:
        """Return the sampler of a grammar.

        Raises:
            WrongRequest: `max_length` is not positive.
        """
        check_types(cls.of, {"grammar": grammar, "max_length": max_length})
        require(max_length > 0, f"max-length must be positive, not {max_length}")
        return cls(inside(grammar, max_length))

    def lengths(self, min_length: int = 1) -> Weights:
        """Return the distribution of lengths in the range, from 0 on.

        Raises:
            WrongRequest: the grammar has no source in the range.
        """
        grammar, longest = self.weights.grammar, self.weights.longest
        weights = self.weights.whole[grammar.root].copy()
        weights[: max(min_length, 0)] = -np.inf
        none = f"the grammar has no source of {min_length} to {longest} tokens"
        require(weights.max(initial=-np.inf) > -np.inf, none)
        odds = np.exp(weights - weights.max())
        return odds / odds.sum()

    def possible(self, min_length: int = 1) -> Integers:
        """Return the lengths in the range that sources can have.

        Raises:
            WrongRequest: there are none.
        """
        self.lengths(min_length)
        weights = self.weights.whole[self.weights.grammar.root]
        found = np.flatnonzero(weights > -np.inf)
        return found[found >= min_length]

    def pairs(self, lengths: Integers, draw: np.random.Generator) -> Examples:
        """Return a pair for each of some source lengths, which are lengths of the grammar.

        Raises:
            WrongRequest: the grammar has no source of one of these lengths.
        """
        return self.written(list(self.derivations(lengths, draw)))

    def derivations(self, lengths: Integers, draw: np.random.Generator) -> Iterator[Generation]:
        """Draw derivations of some source lengths; return their nodes, from the roots down.

        Raises:
            WrongRequest: the grammar has no source of one of these lengths.
        """
        lengths = np.asarray(lengths)
        whole_numbers = np.issubdtype(lengths.dtype, np.integer) or lengths.size == 0
        require(whole_numbers, f"lengths must be whole numbers, not {lengths.dtype}")
        whole = self.weights.whole[self.weights.grammar.root]
        known = (lengths > 0) & (lengths < len(whole))
        missing = lengths[~known | (whole[np.where(known, lengths, 0)] == -np.inf)]
        none = f"the grammar has no source of {missing[0] if len(missing) else 0} tokens"
        require(len(missing) == 0, none)
        names, length = np.zeros(len(lengths), np.int64), lengths.astype(np.int64)
        while len(names):
            rule = self._rules(names, length, draw)
            left = length - self._tables.tokens[rule]
            children = np.full((len(rule), self._tables.children.shape[1]), NONE)
            new_names, new_lengths, count = list[Integers](), list[Integers](), 0
            for child in range(children.shape[1]):
                (here,) = np.nonzero(self._tables.children[rule, child] != NONE)
                taken = self._share(rule[here], child, left[here], draw)
                left[here] -= taken
                children[here, child] = count + np.arange(len(here))
                count += len(here)
                new_names.append(self._tables.children[rule[here], child])
                new_lengths.append(taken)
            yield Generation(rule, children)
            names, length = np.concatenate(new_names), np.concatenate(new_lengths)

    def written(self, generations: Sequence[Generation]) -> Examples:
        """Return the pairs that derivations derive."""
        source, target = (side.written(generations) for side in self._sides)
        return Examples(source, target)

    @cached_property
    def _tables(self) -> _Tables:
        return _Tables.of(self.weights.grammar)

    @cached_property
    def _sides(self) -> tuple[Layout, Layout]:
        grammar = self.weights.grammar
        source = Layout.of([rule.source for rule in grammar.rules], grammar.source_symbols)
        return source, Layout.of([rule.target for rule in grammar.rules], grammar.target_symbols)

    @cached_property
    def _rule_choices(self) -> _Choices:
        grammar = self.weights.grammar
        return _Choices.of(block for name in grammar.nonterminals for block in self._blocks(name))

    def _blocks(self, name: str) -> Iterator[tuple[Weights, Integers]]:
        """Yield odds of a nonterminal's rules by length, with the rules.

        A rule without children has a single length and is only in the block of that length.
        """
        rules, width = self.weights.grammar.rules, self.weights.longest + 1
        several, fixed = list[int](), dict[int, list[int]]()
        for number, rule in enumerate(rules):
            if rule.left == name and rule.children:
                several.append(number)
            elif rule.left == name and self._tables.tokens[number] < width:
                fixed.setdefault(int(self._tables.tokens[number]), []).append(number)
        odds = np.full((width, len(several)), -np.inf)
        for column, number in enumerate(several):
            rest = self.weights.together[rules[number].children]
            first = min(int(self._tables.tokens[number]), width)
            odds[first:, column] = math.log(rules[number].probability) + rest[: width - first]
        first = 0
        for length, own in sorted(fixed.items()):
            yield odds[first:length], np.array(several, np.int64)
            log = [math.log(rules[number].probability) for number in own]
            every = np.array([*several, *own])
            order = np.argsort(every)
            yield np.concatenate([odds[length], log])[None, order], every[order]
            first = length + 1
        yield odds[first:], np.array(several, np.int64)

    @cached_property
    def _share_choices(self) -> tuple[_Choices, Integers]:
        """Choices of lengths of children but the last, and the choice of each child."""
        weights, width = self.weights, self.weights.longest + 1
        numbers = np.full(self._tables.children.shape, NONE)
        # Where the same child has the same children after it, its share is the same.
        known = dict[tuple[str, ...], int]()
        for row, rule in enumerate(weights.grammar.rules):
            for child in range(len(rule.children) - 1):
                numbers[row, child] = known.setdefault(rule.children[child:], len(known))
        left = np.arange(width)[:, None] - np.arange(width)
        parts = ((weights.whole[first], weights.together[tuple(rest)]) for first, *rest in known)
        blocks = (own + np.where(left >= 0, others[left], -np.inf) for own, others in parts)
        return _Choices.of((odds, np.arange(width)) for odds in blocks), numbers

    def _rules(self, names: Integers, length: Integers, draw: np.random.Generator) -> Integers:
        return self._rule_choices.draw(names * (self.weights.longest + 1) + length, draw)

    def _share(
        self, rule: Integers, child: int, left: Integers, draw: np.random.Generator
    ) -> Integers:
        """Return the length of a child of each node, of the remaining tokens."""
        choices, numbers = self._share_choices
        number = numbers[rule, child]
        is_last = number == NONE
        rows = number[~is_last] * (self.weights.longest + 1) + left[~is_last]
        taken = left.copy()
        taken[~is_last] = choices.draw(rows, draw)
        return taken


@dataclass(frozen=True, eq=False)
class _Choices:
    """Many distributions over few outcomes each, sampled by one binary search."""

    edges: Weights
    """Cumulative probabilities of outcomes, plus the number of the row."""
    outcomes: NDArray[np.int32]
    """The outcomes."""

    @classmethod
    def of(cls, blocks: Iterable[tuple[Weights, Integers]]) -> _Choices:
        """Return the choices between outcomes with these odds, as logarithms.

        A row without any is not drawn.

        Args:
            blocks: Odds of shape [rows, outcomes], and which outcomes they are of.
        """
        edges, outcomes, first = [np.zeros(0)], [np.zeros(0, np.int32)], 0
        for odds, which in blocks:
            most = odds.max(axis=1, keepdims=True, initial=-np.inf)
            sums = np.cumsum(np.exp(odds - np.where(most > -np.inf, most, 0)), axis=1)
            totals = np.where(most > -np.inf, sums[:, -1:], 1)
            sums = sums / totals + np.arange(first, first + len(odds))[:, None]
            possible = odds > -np.inf
            edges.append(sums[possible])
            outcomes.append(np.broadcast_to(which.astype(np.int32), odds.shape)[possible])
            first += len(odds)
        return cls(np.concatenate(edges), np.concatenate(outcomes))

    def draw(self, rows: Integers, draw: np.random.Generator) -> Integers:
        """Return an outcome for each of these rows."""
        places = np.minimum(rows + draw.random(len(rows)), np.nextafter(rows + 1.0, 0))
        found = np.searchsorted(self.edges, places, side="right")
        return self.outcomes[found].astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Tables:
    """Tables of rules for the nodes of derivations."""

    tokens: Integers
    """Tokens of each rule's source."""
    children: Integers
    """Nonterminal of each child, -1 for none: [rules, most children]."""

    @classmethod
    def of(cls, grammar: Grammar) -> _Tables:
        place = {name: number for number, name in enumerate(grammar.nonterminals)}
        most = max(1, *(len(rule.children) for rule in grammar.rules))
        children = np.full((len(grammar.rules), most), NONE)
        for row, rule in zip(children, grammar.rules, strict=True):
            row[: len(rule.children)] = [place[child] for child in rule.children]
        return cls(np.array([len(tokens_of(rule.source)) for rule in grammar.rules]), children)
