"""Good-enough compositional data augmentation (Andreas 2020).

A *fragment* is a few pieces of an example, some of its source and some of its target; with each of
them taken out wherever it occurs, a *template* is left, with gaps. Two fragments that have been in
one *environment*, a template or what of it is near its gaps, are interchangeable: a template that
has had the one is filled with the other, unless that has a token in common with every fragment that
the template has had (a rule of the author's code). From `walk twice`, WALK WALK, and from `walk`,
WALK, beside `jump`, JUMP, comes `jump twice`, JUMP JUMP.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import require
from daxy.core.examples import Examples, Tokens
from daxy.core.random import stream
from daxy.core.settings import check_positive, check_types

Codes: TypeAlias = str
"""A source, `BORDER` and a target, a character each of their tokens; gaps are those of `GAPS`."""
Fragment: TypeAlias = tuple[Codes, ...]
"""A piece a gap."""
Fillable: TypeAlias = dict[Codes, tuple[Fragment, ...]]
"""Templates to fill, each with the fragments that allow it."""

BORDER = " "
MOST = 10_000_000
"""New examples that may be asked for."""
GAPS = "".join(map(chr, range(ord(BORDER))))
"""Characters of the gaps: all before the border."""
FIRST = ord(BORDER) + 1
"""The first word's character; the others follow."""


@dataclass(frozen=True, kw_only=True)
class Geca:
    """Settings of the augmentation; the defaults are those of the author's runs on SCAN."""

    max_piece_length: int = 1
    """Maximum tokens of a piece of a fragment."""
    max_pieces: int = 2
    """Maximum pieces of a fragment, and so gaps of a template; up to 32."""
    window: int = 0
    """Tokens on either side of each gap that make up an environment; 0: the whole template."""
    max_templates: int = 1_000
    """Maximum templates that one fragment makes fillable; the seed draws which."""
    max_length: int = 38
    """Maximum tokens of source and target of an example that is cut into fragments (the author's 40
    counts the border and excludes the bound)."""
    draws: int = 2
    """Maximum fragments to draw for each template."""
    sampling: Literal["environments", "uniform"] = "environments"
    """How to draw fragments: in proportion to their shared environments (the author's code), or
    uniformly."""
    count: int = 1_000
    """Maximum new examples; in tasks with worlds, exactly as many (10,000 in Ruis et al.)."""
    novel: Literal["both", "pair"] = "both"
    """Novelty of a new example: its source and its target are new, or only their pair."""
    in_place: bool = True
    """In tasks with worlds: replace the examples that new ones are made of, as the counts of Ruis
    et al. (2020, Table 4) suggest."""

    def __post_init__(self) -> None:
        check_types(Geca, vars(self))
        check_positive(
            self, "max_piece_length", "max_pieces", "max_templates", "max_length", "draws"
        )
        for name in ("window", "count"):
            value = getattr(self, name)
            require(value >= 0, f"{name} must not be negative: {value}")
        many = f"max-pieces must be at most {len(GAPS)}: {self.max_pieces}"
        require(self.max_pieces <= len(GAPS), many)
        require(self.count <= MOST, f"count must be at most {MOST:,}: {self.count:,}")


@dataclass(frozen=True)
class Composition:
    """A new example and how it was made."""

    source: Tokens
    target: Tokens
    template: tuple[Tokens, Tokens]
    """Source and target with `_1`, `_2` and so on for gaps."""
    fragment: tuple[Tokens, ...]
    """Contents of the gaps."""
    origins: tuple[tuple[Tokens, Tokens], ...]
    """The examples that the template was cut out of."""


@dataclass(frozen=True)
class Augmented:
    """New examples and statistics of their search."""

    compositions: tuple[Composition, ...]
    fragments: int
    templates: int
    fillable: int
    """Number of templates with a new fragment."""

    @property
    def examples(self) -> Examples:
        """The new examples."""
        return Examples.of((each.source, each.target) for each in self.compositions)


@dataclass(frozen=True, eq=False)
class Composer:
    """GECA of a training set; repeated examples count once."""

    train: Examples
    geca: Geca

    def augment(self, seed: int) -> Augmented:
        """Return new examples; the seed decides on templates and fragments.

        Raises:
            WrongRequest: their number is 0, or `in_place` is off, which is for worlds only.
        """
        staying = "no-in-place needs a task with worlds; leave it out"
        require(self.geca.in_place, staying)
        require(self.geca.count > 0, "count must be positive where there are no worlds, not 0")
        index, seen = self._index, set[Codes]()
        fillable = index.fillable(seed)

        def new() -> Iterator[tuple[Codes, Codes, Fragment]]:
            for sequence, template, fragment in index.compose(fillable, seed):
                if sequence not in seen:
                    seen.add(sequence)
                    yield sequence, template, fragment

        first = islice(new(), self.geca.count)
        return Augmented(
            compositions=tuple(index.composition(*each, self._words) for each in first),
            fragments=len(index.fragments),
            templates=len(index.fragments_of),
            fillable=sum(len(index.fillings(*each).fragments) > 0 for each in fillable.items()),
        )

    def compositions(self, seed: int) -> Iterator[Composition]:
        """Yield all new examples; several templates may yield the same one."""
        index = self._index
        new = index.compose(index.fillable(seed), seed)
        return (index.composition(*each, self._words) for each in new)

    @cached_property
    def _pairs(self) -> list[tuple[Tokens, Tokens]]:
        return sorted(set(zip(self.train.source, self.train.target, strict=True)))

    @cached_property
    def _words(self) -> list[str]:
        return sorted(set(chain.from_iterable(chain.from_iterable(self._pairs))))

    @cached_property
    def _index(self) -> _Index:
        code = {word: chr(number) for number, word in enumerate(self._words, FIRST)}

        def coded(tokens: Tokens) -> str:
            return "".join(map(code.__getitem__, tokens))

        sequences = [coded(source) + BORDER + coded(target) for source, target in self._pairs]
        return _Index(self.geca, sequences)


class _Fillings(NamedTuple):
    """Candidate fragments of a template."""

    fragments: Sequence[Fragment]
    ends: NDArray[np.int64]
    """Cumulative weights."""

    def drawn(self, count: int, draws: np.random.Generator) -> Iterator[Fragment]:
        """Yield the fragments of weighted draws without replacement."""
        if len(self.ends) == 0:
            return
        chances = int(self.ends[-1])
        chosen = draws.choice(chances, min(count, chances), replace=False)
        places = np.searchsorted(self.ends, chosen, "right").tolist()
        yield from (self.fragments[place] for place in dict.fromkeys(places))


class _Index:
    """Every template with its fragments, and which fragments share an environment."""

    def __init__(self, geca: Geca, sequences: Sequence[Codes]) -> None:
        self.geca = geca
        self.known = _Known.of(sequences)
        # A dictionary without values is a set that keeps its order.
        self.fragments_of: dict[Codes, dict[Fragment, None]] = {}
        self.fragments: dict[Fragment, None] = {}
        # Without a window a template is its own environment.
        within: dict[Codes, dict[Fragment, None]] = {} if geca.window else self.fragments_of
        for sequence in sequences:
            if len(sequence) - 1 > geca.max_length:
                continue
            for template, fragment in cuts(sequence, geca.max_piece_length, geca.max_pieces):
                self.fragments_of.setdefault(template, {})[fragment] = None
                self.fragments[fragment] = None
                if geca.window:
                    within.setdefault(near_gaps(template, geca.window), {})[fragment] = None
        self._shared = {place: tuple(own) for place, own in within.items() if len(own) > 1}
        self._places: dict[Fragment, dict[Codes, None]] = {}
        """The environments of each fragment that it shares with another."""
        for place, own in self._shared.items():
            for fragment in own:
                self._places.setdefault(fragment, {})[place] = None
        self._partners: dict[tuple[Fragment, ...], Counter[Fragment]] = {}
        self._fillings: dict[tuple[tuple[Fragment, ...], tuple[Fragment, ...]], _Fillings] = {}

    def fillable(self, seed: int) -> Fillable:
        """Return the templates to fill, in random order.

        Each fragment allows the first `max_templates` of its templates in this order, so that
        fragments with similar templates allow similar ones.
        """
        templates = list(self.fragments_of)
        left = dict.fromkeys(self.fragments, self.geca.max_templates)
        found: Fillable = {}
        for place in stream(seed, "geca, which templates").permutation(len(templates)).tolist():
            template = templates[place]
            by = [each for each in self.fragments_of[template] if left[each]]
            for each in by:
                left[each] -= 1
            if by:
                found[template] = tuple(by)
        return found

    def fillings(self, template: Codes, by: tuple[Fragment, ...]) -> _Fillings:
        """Return the candidates of a template, partners of some of its fragments.

        A fragment with a token in common with each of the template's fragments is none.
        """
        own = tuple(self.fragments_of[template])
        if (by, own) not in self._fillings:  # many templates have had the same few
            fit = {
                other: times
                for other, times in self._partners_of(by).items()
                if other not in own and not all(_overlap(other, each) for each in own)
            }
            chances = list(fit.values()) if self.geca.sampling == "environments" else [1] * len(fit)
            self._fillings[by, own] = _Fillings(list(fit), np.cumsum(chances, dtype=np.int64))
        return self._fillings[by, own]

    def _partners_of(self, fragments: tuple[Fragment, ...]) -> Counter[Fragment]:
        """Count the environments that each fragment shares with some fragments."""
        if fragments not in self._partners:
            places = dict.fromkeys(chain.from_iterable(self._places.get(f, ()) for f in fragments))
            found = chain.from_iterable(self._shared[place] for place in places)
            self._partners[fragments] = Counter(found)
        return self._partners[fragments]

    def composition(
        self, sequence: Codes, template: Codes, fragment: Fragment, words: Sequence[str]
    ) -> Composition:
        """Return a new sequence in words."""

        def words_of(codes: Codes) -> Tokens:
            return tuple(
                f"_{GAPS.index(code) + 1}" if code in GAPS else words[ord(code) - FIRST]
                for code in codes
            )

        def pair(codes: Codes) -> tuple[Tokens, Tokens]:
            source, target = _sides(codes)
            return words_of(source), words_of(target)

        origins = tuple(pair(filled(template, each)) for each in self.fragments_of[template])
        return Composition(*pair(sequence), pair(template), tuple(map(words_of, fragment)), origins)

    def compose(self, fillable: Fillable, seed: int) -> Iterator[tuple[Codes, Codes, Fragment]]:
        """Yield new sequences with their templates and fragments; sequences may repeat."""
        draws = stream(seed, "geca")
        for template, by in fillable.items():
            for fragment in self.fillings(template, by).drawn(self.geca.draws, draws):
                sequence = filled(template, fragment)
                if self.known.lacks(sequence, self.geca.novel):
                    yield sequence, template, fragment


@dataclass(frozen=True)
class _Known:
    pairs: frozenset[Codes]
    sources: frozenset[Codes]
    targets: frozenset[Codes]

    @classmethod
    def of(cls, sequences: Sequence[Codes]) -> _Known:
        sides = [_sides(sequence) for sequence in sequences]
        sources, targets = (frozenset(pair[side] for pair in sides) for side in (0, 1))
        return cls(frozenset(sequences), sources, targets)

    def lacks(self, sequence: Codes, novel: Literal["both", "pair"]) -> bool:
        if novel == "pair":
            return sequence not in self.pairs
        source, target = _sides(sequence)
        return source not in self.sources and target not in self.targets


def cuts(sequence: Codes, size: int, gaps: int) -> Iterator[tuple[Codes, Fragment]]:
    """Yield every template of a sequence with its fragment.

    There are gaps on both sides of the border. No two pieces of a fragment have a token in common;
    the first gap is the one that begins first.

    Args:
        sequence: A source, `BORDER` and a target.
        size: Maximum tokens of a piece.
        gaps: Maximum pieces of a fragment.
    """
    return _cuts(sequence, size, gaps, 0, (), is_in_target=False)


def _cuts(
    sequence: Codes, size: int, gaps: int, begin: int, taken: Fragment, is_in_target: bool
) -> Iterator[tuple[Codes, Fragment]]:
    """Yield templates with further gaps, from a position on."""
    border, used = sequence.index(BORDER), set("".join(taken))
    gap, is_last = GAPS[len(taken)], len(taken) + 1 == gaps
    # The first piece begins in the source; the last one is in the target, unless there is a gap.
    since = max(begin, border + 1) if taken and is_last and not is_in_target else begin
    for piece in _pieces(sequence, size, since, len(sequence) if taken else border):
        if min(piece) <= BORDER or not used.isdisjoint(piece):
            continue
        start = sequence.find(piece)
        if start < begin:
            continue  # its earlier occurrence had this gap
        template, fragment = sequence.replace(piece, gap), (*taken, piece)
        is_both = is_in_target or sequence.find(piece, border) > border
        if is_both:
            yield template, fragment
        if not is_last:
            yield from _cuts(template, size, gaps, start + 1, fragment, is_both)


def _pieces(sequence: Codes, size: int, begin: int, end: int) -> Iterable[Codes]:
    """Return the distinct pieces that begin between two positions."""
    if size == 1:
        return dict.fromkeys(sequence[begin:end])
    longest = min(size, len(sequence))
    starts = range(begin, end)
    return dict.fromkeys(
        sequence[start : start + length] for start in starts for length in range(1, longest + 1)
    )


def near_gaps(template: Codes, window: int) -> Codes:
    """Return the tokens within a window around the gaps; all for 0."""
    if window == 0:
        return template
    gaps = [place for place, code in enumerate(template) if code < BORDER]
    return "".join(
        code
        for place, code in enumerate(template)
        if any(abs(place - gap) <= window for gap in gaps)
    )


def filled(template: Codes, fragment: Fragment) -> Codes:
    """Return a template with filled gaps."""
    for gap, piece in zip(GAPS, fragment, strict=False):
        template = template.replace(gap, piece)
    return template


def _overlap(one: Fragment, other: Fragment) -> bool:
    return not set("".join(one)).isdisjoint("".join(other))


def _sides(sequence: Codes) -> tuple[Codes, Codes]:
    source, _, target = sequence.partition(BORDER)
    return source, target
