"""Charts: spans of nonterminals on one side, by the rules of that side.

Places lie between words; place 0 is before the first. A set of places is an integer whose bit p is
set for place p, for fast unions and intersections.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from daxy.core.errors import WrongRequest, quote
from daxy.core.examples import Tokens
from daxy.languages._itg_grammar import Grammar, Rule, Side, tokens_of

Places: TypeAlias = int
"""A set of places between words."""
Ends: TypeAlias = dict[int, Places]
"""Ends by start."""


def each_of(places: Places) -> Iterator[int]:
    """Return the places of a set in their order."""
    while places:
        lowest = places & -places
        yield lowest.bit_length() - 1
        places ^= lowest


@dataclass(eq=False, slots=True)
class _Rest:
    """A suffix of a rule's side: optional tokens, a nonterminal, and the next suffix."""

    tokens: Tokens
    child: str | None
    """None for tokens alone, which end a side."""
    following: _Rest | None
    """The suffix after the nonterminal."""
    ends: Ends = field(default_factory=Ends)
    left: str | None = None
    """The rule's left-hand side, for the whole side."""


@dataclass(frozen=True, eq=False)
class Chart:
    """The chart of one side."""

    words: Tokens
    rules: Sequence[Rule]
    sides: Sequence[Side]
    """That of each rule."""
    names: Mapping[str, Ends]
    """Spans of each nonterminal."""
    rests: Mapping[int, Mapping[int, _Rest]]
    """Suffixes by rule and first symbol, of the rules whose tokens all occur."""
    standing: Mapping[str, Places]
    """Position after each token."""
    _known: dict[tuple[int, int, int, int], Places] = field(default_factory=dict)
    """Cache of `onward`."""

    @classmethod
    def of(cls, grammar: Grammar, words: Tokens, sides: Sequence[Side], called: str) -> Chart:
        """Parse one side.

        Raises:
            WrongRequest: the words are not a side of the grammar.
        """
        known = {token for side in sides for token in tokens_of(side)}
        for place, word in enumerate(words, 1):
            if word not in known:
                name = quote(word, most=60)
                raise WrongRequest(f"word {place} of the {called}, {name}, is not the grammar's")
        there = {*words}
        rests = {
            number: _rests(grammar.rules[number], side)
            for number, side in enumerate(sides)
            if there.issuperset(tokens_of(side))
        }
        names = {name: Ends() for name in grammar.nonterminals}
        standing = defaultdict[str, Places](int)
        for place, word in enumerate(words, 1):
            standing[word] |= 1 << place
        chart = cls(words, grammar.rules, sides, names, rests, standing)
        chart._fill()
        if not chart.names[grammar.root].get(0, 0) >> len(words) & 1:
            raise WrongRequest(f"the {called} is none of the grammar: {quote(' '.join(words))}")
        return chart

    def _fill(self) -> None:
        """Fill the chart from the last start to the first.

        Suffixes with tokens follow from later starts; others are revisited for each new end of
        their nonterminal.
        """
        by_token = defaultdict[str, list[_Rest]](list)
        by_child = defaultdict[str, list[_Rest]](list)
        for rest in (rest for own in self.rests.values() for rest in own.values()):
            if rest.tokens:
                by_token[rest.tokens[0]].append(rest)
            elif rest.child is not None:
                by_child[rest.child].append(rest)
        for start, word in reversed([*enumerate(self.words)]):
            new = defaultdict[str, Places](int)
            for rest in by_token[word]:
                end = start + len(rest.tokens)
                if self.words[start:end] == rest.tokens:
                    ends = 1 << end if rest.child is None else self.names[rest.child].get(end, 0)
                    self._found(rest, start, ends, new)
            while new:
                name, ends = new.popitem()
                for rest in by_child[name]:
                    self._found(rest, start, ends, new)

    def _found(self, rest: _Rest, start: int, ends: Places, new: dict[str, Places]) -> None:
        """Record ends of a suffix, given those of its nonterminal or tokens; add news to `new`."""
        if rest.following is not None:
            ends = _ends(rest.following.ends, ends)
        rest.ends[start] = rest.ends.get(start, 0) | ends
        if rest.left is not None:
            known = self.names[rest.left].get(start, 0)
            if ends & ~known:
                self.names[rest.left][start] = known | ends
                new[rest.left] |= ends & ~known

    def onward(self, number: int, symbols: range, start: int) -> Places:
        """Return the ends of consecutive symbols of a rule's side."""
        first, last = symbols.start, symbols.stop
        if symbols and last == len(self.sides[number]):
            return self.rests[number][first].ends.get(start, 0)
        known = last
        while known > first and (number, first, known, start) not in self._known:
            known -= 1
        ends = self._known.get((number, first, known, start), 1 << start)
        for place in range(known, last):
            ends = self._after(self.rules[number], self.sides[number][place], ends)
            self._known[number, first, place + 1, start] = ends
        return ends

    def _after(self, rule: Rule, symbol: str | int, starts: Places) -> Places:
        """Return the ends of a symbol that starts at one of some places."""
        if isinstance(symbol, int):
            return _ends(self.names[rule.children[symbol]], starts)
        return self.standing[symbol] & starts << 1


def _rests(rule: Rule, side: Side) -> Mapping[int, _Rest]:
    """Return the suffixes of a side, from its start and after each nonterminal."""
    pieces, first = list[tuple[int, Tokens, str | None]](), 0
    for place, symbol in enumerate(side):
        if isinstance(symbol, int):
            pieces.append((first, tokens_of(side[first:place]), rule.children[symbol]))
            first = place + 1
    if first < len(side):
        pieces.append((first, tokens_of(side[first:]), None))
    found, following = dict[int, _Rest](), None
    for first, tokens, child in reversed(pieces):
        found[first] = following = _Rest(tokens, child, following)
    found[0].left = rule.left
    return found


def _ends(ends: Ends, starts: Places) -> Places:
    """Return the union of ends over some starts."""
    found = 0
    for start in each_of(starts):
        found |= ends.get(start, 0)
    return found
