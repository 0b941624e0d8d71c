"""Where the nonterminals of a grammar can stand on one side, as its rules of that side alone say.

Places are those between words: place 0 is before the first. A set of places is a whole number whose
bit p says whether place p is in it: sets are joined and met at once, however many places there are.
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
"""Where something can end, by where it starts."""


def each_of(places: Places) -> Iterator[int]:
    """Return the places of a set in their order."""
    while places:
        lowest = places & -places
        yield lowest.bit_length() - 1
        places ^= lowest


@dataclass(eq=False, slots=True)
class _Rest:
    """What is left of a rule's side: tokens, if there are any, a nonterminal, and what follows."""

    tokens: Tokens
    child: str | None
    """None for tokens alone, which end a side."""
    following: _Rest | None
    """What is left after the nonterminal; None for nothing."""
    ends: Ends = field(default_factory=Ends)
    left: str | None = None
    """The rule's left-hand side, if it is the whole of the side."""


@dataclass(frozen=True, eq=False)
class Chart:
    """What can stand where on one side."""

    words: Tokens
    rules: Sequence[Rule]
    sides: Sequence[Side]
    """That of each rule."""
    names: Mapping[str, Ends]
    """Where each nonterminal can stand."""
    rests: Mapping[int, Mapping[int, _Rest]]
    """What is left of a rule's side from one of its symbols on, by the numbers of both; of rules
    whose tokens are all there: a large vocabulary has few of them."""
    standing: Mapping[str, Places]
    """Where each token ends."""
    _known: dict[tuple[int, int, int, int], Places] = field(default_factory=dict)
    """What `onward` found, of several symbols."""

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
        """Find where everything can stand, from the last start on.

        Whatever begins with tokens ends where what begins after them does. What begins with a
        nonterminal is looked at for each end of it that is new.
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
        """Write down where a rest can end.

        Args:
            rest: What is left of a side.
            start: Where it starts.
            ends: Where its nonterminal, or its tokens alone, can end.
            new: Where nonterminals can end that start there: what is new is added.
        """
        if rest.following is not None:
            ends = _ends(rest.following.ends, ends)
        rest.ends[start] = rest.ends.get(start, 0) | ends
        if rest.left is not None:
            known = self.names[rest.left].get(start, 0)
            if ends & ~known:
                self.names[rest.left][start] = known | ends
                new[rest.left] |= ends & ~known

    def onward(self, number: int, symbols: range, start: int) -> Places:
        """Return where consecutive symbols of a rule's side can end together."""
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
        """Return where a symbol of a rule can end that starts at one of some places."""
        if isinstance(symbol, int):
            return _ends(self.names[rule.children[symbol]], starts)
        return self.standing[symbol] & starts << 1


def _rests(rule: Rule, side: Side) -> Mapping[int, _Rest]:
    """Return what is left of a side from its beginning and from behind each nonterminal on."""
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
    """Return where something can end that starts at one of some places."""
    found = 0
    for start in each_of(starts):
        found |= ends.get(start, 0)
    return found
