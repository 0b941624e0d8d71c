"""Spans of the children of a rule, given the rule's spans.

Children get their spans one by one, on every side. Charts and, for a pair, fingerprints of both
sides rule out most dead ends early.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from daxy.languages._itg_chart import Chart, each_of
from daxy.languages._itg_fingerprints import Sums
from daxy.languages._itg_grammar import Side

Span: TypeAlias = tuple[int, int]


class Item(NamedTuple):
    """A nonterminal with its span on each side."""

    name: str
    spans: tuple[Span, ...]


class _Gap(NamedTuple):
    """Position of a child between earlier children on one side."""

    left: int | None
    """Earlier child on the left; None: the beginning."""
    before: range
    """Symbols between that and the child."""
    after: range
    right: int | None
    """Earlier child on the right; None: the end."""


@dataclass(frozen=True, eq=False)
class Ways:
    """Enumeration of the children's spans."""

    charts: Sequence[Chart]
    sums: Sequence[Sums]
    """The fingerprints of a pair; none of a source alone."""
    _known: dict[tuple[int, int, int], _Gap] = field(default_factory=dict)

    def of(
        self, number: int, item: Item, may_be: Callable[[Item], bool]
    ) -> Iterator[tuple[Item, ...]]:
        """Yield all spans for the children of a rule.

        Args:
            number: Number of the rule.
            item: Its left-hand side with its spans.
            may_be: Whether a child is possible so far; its answers may change meanwhile.
        """
        if not all(map(self._fits, self.charts, itertools.repeat(number), item.spans)):
            return
        names = self.charts[0].rules[number].children
        if not names:
            yield ()
            return
        chosen = list[Item]()
        waiting = [self._next(number, item, chosen)]
        while waiting:
            # Each waiting iterator but the last has its choice in `chosen`.
            del chosen[len(waiting) - 1 :]
            child = next(waiting[-1], None)
            if child is None:
                waiting.pop()
            elif may_be(child):
                chosen.append(child)
                if len(chosen) < len(names):
                    waiting.append(self._next(number, item, chosen))
                else:
                    yield tuple(chosen)
                    first = next((n for n, own in enumerate(chosen) if not may_be(own)), len(names))
                    del waiting[first + 1 :]

    def agree(self, item: Item) -> bool:
        """Whether the fingerprints of an item's sides do not tell them apart."""
        found = [own.of(span) for own, span in zip(self.sums, item.spans, strict=False)]
        return not found or found[0] == found[1]

    @staticmethod
    def _fits(chart: Chart, number: int, span: Span) -> bool:
        """Whether a rule fits a span on one side."""
        whole = range(len(chart.sides[number]))
        return bool(chart.onward(number, whole, span[0]) >> span[1] & 1)

    def _next(self, number: int, item: Item, chosen: Sequence[Item]) -> Iterator[Item]:
        """Yield the candidates of the next child."""
        name = self.charts[0].rules[number].children[len(chosen)]
        for source in self._spans(0, number, item, chosen, None):
            if not self.sums:
                yield Item(name, (source,))
                continue
            wanted = self.sums[0].of(source)
            for target in self._spans(1, number, item, chosen, wanted):
                yield Item(name, (source, target))

    def _spans(
        self, side: int, number: int, item: Item, chosen: Sequence[Item], wanted: int | None
    ) -> Iterator[Span]:
        """Yield the spans of the next child on one side, with a sum if one is wanted."""
        chart, gap = self.charts[side], self._gap(side, number, len(chosen))
        reach = chart.names[chart.rules[number].children[len(chosen)]]
        begin, end = item.spans[side]
        if gap.left is not None:
            _, begin = chosen[gap.left].spans[side]
        if gap.right is not None:
            end, _ = chosen[gap.right].spans[side]
        up_to = (2 << end) - 1
        starts = chart.onward(number, gap.before, begin) & up_to
        if wanted is not None and not gap.after:
            starts &= self.sums[side].ending(end, wanted)
        for start in each_of(starts):
            stops = reach.get(start, 0) & (up_to if gap.after else 1 << end)
            if wanted is not None:
                stops &= self.sums[side].beginning(start, wanted)
            for stop in each_of(stops):
                if chart.onward(number, gap.after, stop) >> end & 1:
                    yield start, stop

    def _gap(self, side: int, number: int, child: int) -> _Gap:
        key = (side, number, child)
        if key not in self._known:
            self._known[key] = _gap(self.charts[side].sides[number], child)
        return self._known[key]


def _gap(side: Side, child: int) -> _Gap:
    """Return the position of a child among the earlier ones."""
    place, earlier = side.index(child), {*range(child)}
    lefts = (where for where in reversed(range(place)) if side[where] in earlier)
    rights = (where for where in range(place + 1, len(side)) if side[where] in earlier)
    left, right = next(lefts, None), next(rights, None)
    return _Gap(
        left=None if left is None else int(side[left]),
        before=range(0 if left is None else left + 1, place),
        after=range(place + 1, len(side) if right is None else right),
        right=None if right is None else int(side[right]),
    )
