"""Finding a derivation: of a pair, or of a source alone.

First each side is parsed for itself, as a context-free grammar would: where in it each nonterminal
can stand. Then one derivation is searched for from the root down, in which both sides agree. What
keeps the search short is a fingerprint: numbers for the tokens of both sides, drawn so that in
every rule those of the two sides have the same sum. So they have in everything that is derived, and
two stretches with different sums need not be looked at.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import WrongRequest
from daxy.core.examples import Tokens
from daxy.core.random import stream
from daxy.languages._itg_grammar import Grammar, Rule, Side

Reach: TypeAlias = NDArray[np.bool_]
"""Whether something can stand from one place between words to another: [places, places]."""
Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Derivation:
    """A rule, and what each of its children becomes."""

    rule: Rule
    children: tuple[Derivation, ...]

    @property
    def rules(self) -> Iterator[Rule]:
        """All of its rules, from the root down and from left to right in the source."""
        waiting = list[Derivation]([self])
        while waiting:
            here = waiting.pop()
            yield here.rule
            waiting += here.children[::-1]

    @property
    def log_probability(self) -> float:
        """The logarithm of the probability of this derivation, of any length."""
        return sum(math.log(rule.probability) for rule in self.rules)

    @property
    def source(self) -> Tokens:
        """The source that it derives."""
        return self._side("source")

    @property
    def target(self) -> Tokens:
        """The target that it derives."""
        return self._side("target")

    def _side(self, name: str) -> Tokens:
        said, waiting = list[str](), list[str | Derivation]([self])
        while waiting:
            here = waiting.pop()
            if isinstance(here, str):
                said.append(here)
                continue
            side: Side = getattr(here.rule, name)
            waiting += reversed([s if isinstance(s, str) else here.children[s] for s in side])
        return tuple(said)


class _Item(NamedTuple):
    """A nonterminal, and from where to where it is to stand on each side."""

    name: str
    spans: tuple[Span, ...]


class _Choice(NamedTuple):
    """A rule for an item, and its children as items."""

    rule: Rule
    children: tuple[_Item, ...]


def parse(grammar: Grammar, source: Tokens, target: Tokens | None = None) -> Derivation:
    """Return a derivation of a pair, or of a source alone: one of those there are.

    Raises:
        WrongRequest: there is none.
    """
    charts = [_Chart.of(grammar, source, [rule.source for rule in grammar.rules], "source")]
    if target is not None:
        sides = [rule.target for rule in grammar.rules]
        charts.append(_Chart.of(grammar, target, sides, "target"))
    found = _Search(grammar, charts, _fingerprints(charts)).run()
    if found is None:
        raise WrongRequest("both sides are of the grammar, but not derived together")
    return found


@dataclass(frozen=True, eq=False)
class _Chart:
    """What can stand where on one side."""

    words: Tokens
    sides: Sequence[Side]
    """That of each rule."""
    tokens: dict[str, Reach]
    """Where each of its tokens stands."""
    names: dict[str, Reach]
    """Where each nonterminal can stand."""
    rests: dict[int, list[Reach]]
    """Where each rule's side from each of its symbols on can stand, by the rule's number; of rules
    whose tokens are all there: a large vocabulary has few of them."""

    @classmethod
    def of(cls, grammar: Grammar, words: Tokens, sides: Sequence[Side], called: str) -> _Chart:
        """Parse one side.

        Raises:
            WrongRequest: the words are not a side of the grammar.
        """
        known = {each for side in sides for each in _tokens(side)}
        for place, word in enumerate(words, 1):
            if word not in known:
                raise WrongRequest(f"word {place} of the {called}, {word!r}, is not the grammar's")
        tokens = {each: _standing(each, words) for each in sorted({*words})}
        nowhere, here = np.zeros((2, len(words) + 1, len(words) + 1), bool)
        np.fill_diagonal(here, True)
        names = dict.fromkeys(grammar.nonterminals, nowhere)
        rests = {
            number: [*[nowhere] * len(side), here]
            for number, side in enumerate(sides)
            if all(each in tokens for each in _tokens(side))
        }
        chart = cls(words, sides, tokens, names, rests)
        chart._fill(grammar)
        if not chart.names[grammar.root][0, len(words)]:
            raise WrongRequest(f"the {called} is none of the grammar: {' '.join(words)!r}")
        return chart

    def _fill(self, grammar: Grammar) -> None:
        """Find where everything can stand: whatever a new finding may change is looked at again."""
        waiting = dict.fromkeys(self.rests)
        while waiting:
            number = next(iter(waiting))
            del waiting[number]
            rule, rests = grammar.rules[number], self.rests[number]
            for place in reversed(range(len(self.sides[number]))):
                first = self.symbol(rule, self.sides[number][place])
                rests[place] = (first.astype(np.float32) @ rests[place + 1]) > 0
            more = self.names[rule.left] | rests[0]
            if (more != self.names[rule.left]).any():
                self.names[rule.left] = more
                waiting |= dict.fromkeys(
                    other for other in self.rests if rule.left in grammar.rules[other].children
                )

    def symbol(self, rule: Rule, symbol: str | int) -> Reach:
        """Return where a symbol of a rule can stand."""
        if isinstance(symbol, int):
            return self.names[rule.children[symbol]]
        return self.tokens[symbol]

    def spans(self, rule: Rule, number: int, whole: Span) -> Iterator[dict[int, Span]]:
        """Return every way for the children of a rule to stand, if the rule stands so."""
        side = self.sides[number]

        def onward(place: int, start: int) -> Iterator[dict[int, Span]]:
            if place == len(side):
                yield {}
                return
            symbol = side[place]
            here = self.symbol(rule, symbol)[start]
            for end in np.flatnonzero(here & self.rests[number][place + 1][:, whole[1]]).tolist():
                for rest in onward(place + 1, end):
                    yield rest if isinstance(symbol, str) else {symbol: (start, end), **rest}

        return onward(0, whole[0])


def _used(charts: Sequence[_Chart]) -> list[int]:
    """Return the numbers of the rules whose tokens are all there, on every side."""
    return [number for number in charts[0].rests if all(number in each.rests for each in charts)]


def _fingerprints(charts: Sequence[_Chart]) -> list[NDArray[np.float64]]:
    """Return the sum of the numbers before each place of each side."""
    columns = [(side, each) for side, chart in enumerate(charts) for each in chart.tokens]
    place = {column: number for number, column in enumerate(columns)}
    used = _used(charts)
    balance = np.zeros((len(used), len(columns)))
    for row, number in zip(balance, used, strict=True):
        for side, chart in enumerate(charts):
            for token in _tokens(chart.sides[number]):
                row[place[side, token]] += 1 - 2 * side
    _, sizes, directions = np.linalg.svd(balance, full_matrices=True)
    free = directions[np.count_nonzero(sizes > 1e-9) :]
    numbers = stream(0, "fingerprints").standard_normal(len(free)) @ free
    return [
        np.cumsum([0.0, *(numbers[place[side, word]] for word in chart.words)])
        for side, chart in enumerate(charts)
    ]


def _tokens(side: Side) -> list[str]:
    return [symbol for symbol in side if isinstance(symbol, str)]


def _standing(token: str, words: Tokens) -> Reach:
    """Return where a token stands."""
    return np.diag(np.array([word == token for word in words], bool), 1)


@dataclass(eq=False)
class _Frame:
    """An item that a derivation is searched for."""

    item: _Item
    choices: Iterator[_Choice]
    """Those that were not tried yet."""
    choice: _Choice | None = None
    """The one that is tried."""
    highest: int = sys.maxsize
    """The place in the stack of the highest open item that a choice was passed over for."""


@dataclass(frozen=True, eq=False)
class _Search:
    """Depth first, without recursion: derivations are as deep as sequences are long."""

    grammar: Grammar
    charts: Sequence[_Chart]
    fingerprints: Sequence[NDArray[np.float64]]

    @cached_property
    def used(self) -> list[int]:
        """The numbers of the rules that a derivation can have."""
        return _used(self.charts)

    def run(self) -> Derivation | None:
        """Return a derivation of the whole, None if there is none.

        A derivation with its own item below it is passed over: there is a shorter one. What was
        found impossible only because of that, below an item that is still open, may be possible
        elsewhere, and is not remembered.
        """
        root = _Item(self.grammar.root, tuple((0, len(chart.words)) for chart in self.charts))
        done = dict[_Item, Derivation | None]()
        depth = {root: 0}
        stack = [_Frame(root, self._choices(root))]
        while stack:
            here = stack[-1]
            if here.choice is None:
                here.choice = next(here.choices, None)
            children = [] if here.choice is None else here.choice.children
            waiting = next((child for child in children if child not in done), None)
            if here.choice is None:
                stack.pop()
                del depth[here.item]
                if not stack or here.highest >= len(stack):
                    done[here.item] = None
                else:
                    stack[-1].highest = min(stack[-1].highest, here.highest)
                    stack[-1].choice = None
            elif any(child in done and done[child] is None for child in children):
                here.choice = None
            elif waiting is None:
                below = [done[child] for child in children]
                done[here.item] = Derivation(here.choice.rule, tuple(filter(None, below)))
                stack.pop()
                del depth[here.item]
            elif waiting in depth:
                here.highest = min(here.highest, depth[waiting])
                here.choice = None
            else:
                depth[waiting] = len(stack)
                stack.append(_Frame(waiting, self._choices(waiting)))
        return done[root]

    def _choices(self, item: _Item) -> Iterator[_Choice]:
        """Return every rule that an item can become, with every way for its children to stand."""
        for number in self.used:
            rule = self.grammar.rules[number]
            if rule.left != item.name:
                continue
            ways = [
                list(chart.spans(rule, number, span))
                for chart, span in zip(self.charts, item.spans, strict=True)
            ]
            for way in itertools.product(*ways):
                spans = [tuple(own[child] for own in way) for child in range(len(rule.children))]
                if all(map(self._agrees, spans)):
                    items = zip(rule.children, spans, strict=True)
                    yield _Choice(rule, tuple(itertools.starmap(_Item, items)))

    def _agrees(self, spans: tuple[Span, ...]) -> bool:
        """Whether the two sides of a child may have been derived together."""
        sums = [
            own[end] - own[start]
            for own, (start, end) in zip(self.fingerprints, spans, strict=True)
        ]
        return len(sums) < 2 or abs(sums[0] - sums[1]) < 1e-6
