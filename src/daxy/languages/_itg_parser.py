"""Parser: a derivation of a pair or of a source.

First, each side is parsed by its context-free grammar into a chart. Then a derivation of both sides
is searched from the root down.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from daxy.core.errors import WrongRequest, quote
from daxy.core.examples import Tokens
from daxy.languages._itg_chart import Chart
from daxy.languages._itg_fingerprints import fingerprints
from daxy.languages._itg_grammar import Grammar, Rule, Side
from daxy.languages._itg_ways import Item, Ways


@dataclass(frozen=True, slots=True)
class Derivation:
    """A rule with the derivations of its children."""

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
        tokens, waiting = list[str](), list[str | Derivation]([self])
        while waiting:
            here = waiting.pop()
            if isinstance(here, str):
                tokens.append(here)
                continue
            side: Side = getattr(here.rule, name)
            waiting += reversed([s if isinstance(s, str) else here.children[s] for s in side])
        return tuple(tokens)


class _Choice(NamedTuple):
    rule: Rule
    children: tuple[Item, ...]


def parse(
    grammar: Grammar, source: Sequence[str], target: Sequence[str] | None = None
) -> Derivation:
    """Return a derivation of a pair or of a source.

    Raises:
        WrongRequest: there is none, or a side is a text, not tokens.
    """
    text = next((side for side in (source, target) if isinstance(side, str)), None)
    if text is not None:
        raise WrongRequest(f"expected the tokens of a side, as a tuple or list, not {quote(text)}")
    charts = [Chart.of(grammar, tuple(source), [rule.source for rule in grammar.rules], "source")]
    if target is not None:
        sides = [rule.target for rule in grammar.rules]
        charts.append(Chart.of(grammar, tuple(target), sides, "target"))
    found = _Search.of(grammar, charts).run()
    if found is None:
        raise WrongRequest("both sides are of the grammar, but not derived together")
    return found


@dataclass(eq=False)
class _Frame:
    """An open item of the search."""

    item: Item
    choices: Iterator[_Choice]
    """The remaining choices."""
    choice: _Choice | None = None
    """The current choice."""
    highest: int = sys.maxsize
    """Highest open item in the stack that made a choice fail."""


@dataclass(frozen=True, eq=False)
class _Search:
    """Depth-first search without recursion, since derivations can be deep."""

    grammar: Grammar
    charts: Sequence[Chart]
    used: Sequence[int]
    """Numbers of the rules whose tokens occur on every side."""
    ways: Ways
    done: dict[Item, Derivation | None] = field(default_factory=dict)
    """Derivations of closed items, or None."""

    @classmethod
    def of(cls, grammar: Grammar, charts: Sequence[Chart]) -> _Search:
        """Return the search for a derivation of what has these charts."""
        used = [n for n in charts[0].rests if all(n in chart.rests for chart in charts)]
        sums = fingerprints(charts, used) if len(charts) > 1 else ()
        return cls(grammar, charts, used, Ways(charts, sums))

    @cached_property
    def used_of(self) -> Mapping[str, Sequence[int]]:
        """The numbers of the rules that each nonterminal can become."""
        found = defaultdict[str, list[int]](list)
        for number in self.used:
            found[self.grammar.rules[number].left].append(number)
        return found

    def run(self) -> Derivation | None:
        """Return a derivation of the root, or None.

        A derivation below its own item is skipped: there is a shorter one. A failure caused by such
        a skip below an open item may be possible elsewhere, and is not stored.
        """
        root = Item(self.grammar.root, tuple((0, len(chart.words)) for chart in self.charts))
        if not self.ways.agree(root):
            return None
        done, depth = self.done, {root: 0}
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

    def _choices(self, item: Item) -> Iterator[_Choice]:
        """Yield all rules of an item with all spans of their children."""
        for number in self.used_of.get(item.name, ()):
            for children in self.ways.of(number, item, self._may_be):
                yield _Choice(self.grammar.rules[number], children)

    def _may_be(self, item: Item) -> bool:
        return self.done.get(item, item) is not None
