"""GECA for commands in worlds (Ruis et al. 2020, section 4 and appendix C).

GECA composes pairs of a command and its target: `walk to a red circle` and a red circle of size 3.
A new pair is written into the examples behind its template: they get the new command, and the new
thing replaces the target in their worlds. Their actions stay, right or wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from daxy.augmentation.geca import Composer, Composition, Geca
from daxy.core.errors import require
from daxy.core.examples import Examples, Sequences, Tokens
from daxy.core.random import stream
from daxy.languages.grounded import COLORS, SHAPES, SIZES, Thing
from daxy.worlds.columns import code_of, thing_of, worlds_of

Rows = NDArray[np.int64]
Things = NDArray[np.uint8]
"""[count, 3], as `Worlds.things`."""


@dataclass(frozen=True)
class Rewritten:
    """A training set with changed and added examples."""

    original: Examples
    added: Examples
    made_of: Rows
    """Training example behind each added one."""
    compositions: tuple[Composition, ...]
    """The new pairs; several may change an example in the same way."""
    changed: int
    """Number of changed examples of the training set."""

    @property
    def examples(self) -> Examples:
        """All of them."""
        return Examples.joined([self.original, self.added])


@dataclass(frozen=True, eq=False)
class Rewriter:
    """GECA of a training set with worlds."""

    train: Examples
    geca: Geca

    def __post_init__(self) -> None:
        worlds_of(self.train)

    def augment(self, seed: int) -> Rewritten:
        """Return the augmented training set.

        Each example with new pairs takes a random one of them, and `geca.count` examples, made in
        the same way, are added.

        Raises:
            WrongRequest: a world has no target; or the settings add and change nothing.
        """
        nothing = "with no-in-place count must be positive, not 0"
        require(self.geca.in_place or self.geca.count > 0, nothing)
        compositions = tuple(self._composer.compositions(seed))
        choices = self._choices(compositions)
        rows = np.flatnonzero(np.diff(choices.offsets)[self._pair_of] > 0)
        chosen = stream(seed, "geca, what is added")
        more = rows[chosen.integers(len(rows), size=self.geca.count)] if len(rows) else rows
        every = np.arange(len(self.train))
        changing = rows if self.geca.in_place else rows[:0]
        original = self._written(every, changing, choices, stream(seed, "geca, what becomes of it"))
        added = self._written(more, np.arange(len(more)), choices, chosen)
        return Rewritten(original, added, more, compositions, len(changing))

    @cached_property
    def _commands(self) -> tuple[list[Tokens], NDArray[np.int64]]:
        """The distinct commands, and the index of each example's command."""
        sources = list(self.train.source)
        index = {tokens: number for number, tokens in enumerate(sorted(set(sources)))}
        return list(index), np.fromiter(map(index.__getitem__, sources), np.int64, len(sources))

    @cached_property
    def _distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The distinct pairs of a command and a thing, and the index of each example's pair."""
        _, commands = self._commands
        pairs = np.column_stack([commands, worlds_of(self.train).targets.astype(np.int64)])
        return np.unique(pairs, axis=0, return_inverse=True)

    @property
    def _pair_of(self) -> NDArray[np.int64]:
        return self._distinct[1].ravel()

    @cached_property
    def _pairs(self) -> list[tuple[Tokens, Tokens]]:
        commands, _ = self._commands
        pairs = self._distinct[0].tolist()
        return [(commands[command], spelled(thing_of(thing))) for command, *thing in pairs]

    @cached_property
    def _composer(self) -> Composer:
        return Composer(Examples.of(self._pairs), self.geca)

    def _choices(self, compositions: tuple[Composition, ...]) -> _Choices:
        new_pairs: dict[tuple[Tokens, Tokens], dict[tuple[Tokens, Tokens], None]] = {}
        for each in compositions:
            for origin in each.origins:
                new_pairs.setdefault(origin, {})[each.source, each.target] = None
        choices = [list(new_pairs.get(pair, ())) for pair in self._pairs]
        counts = [len(each) for each in choices]
        flat = [pair for each in choices for pair in each]
        things = [code_of(thing_spelled(target)) for _, target in flat]
        return _Choices(
            commands=[source for source, _ in flat],
            things=np.array(things, np.uint8).reshape(-1, 3),
            offsets=np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
        )

    def _written(
        self, rows: Rows, changing: Rows, choices: _Choices, draws: np.random.Generator
    ) -> Examples:
        """Return the examples at these rows, changed at some positions among them."""
        examples = self.train.take(rows)
        pairs = self._pair_of[rows[changing]]
        first, counts = choices.offsets[:-1][pairs], np.diff(choices.offsets)[pairs]
        chosen = first + draws.integers(counts) if len(pairs) else first
        known, commands = self._commands
        numbers = commands[rows].copy()
        numbers[changing] = len(known) + chosen
        worlds = worlds_of(examples)
        things = worlds.things.copy()
        things[worlds.target_rows[changing]] = choices.things[chosen]
        symbols = examples.source.symbols
        source = Sequences.of([*known, *choices.commands], symbols).take(numbers)
        return Examples(source, examples.target, replace(worlds, things=things))


@dataclass(frozen=True, eq=False)
class _Choices:
    commands: list[Tokens]
    things: Things
    offsets: NDArray[np.int64]


def spelled(thing: Thing) -> Tokens:
    """Return a thing as tokens, which are no words of commands."""
    return tuple(f"{name}={value}" for name, value in thing._asdict().items())


def thing_spelled(tokens: Tokens) -> Thing:
    """Return the thing with these tokens; see `spelled`.

    Raises:
        WrongRequest: there is no such thing.
    """
    require(tuple(tokens) in _SPELLED, f"{' '.join(tokens)} spells no thing")
    return _SPELLED[tuple(tokens)]


_SPELLED = {spelled(thing): thing for thing in map(Thing._make, product(SHAPES, COLORS, SIZES))}
"""All things by their tokens."""


def targets(examples: Examples) -> Mapping[str, tuple[int, int]]:
    """Return for each kind of thing how often it is the target, and named by its color (Table 4).

    Raises:
        WrongRequest: a world has no things.
    """
    things, sources = worlds_of(examples).targets, examples.source
    owners = np.repeat(np.arange(len(sources)), sources.lengths)
    counts: dict[str, tuple[int, int]] = {}
    for shape, of_shape in enumerate(SHAPES):
        for color, of_color in enumerate(COLORS):
            placed = (things[:, 0] == shape) & (things[:, 1] == color)
            code = sources.symbols.index(of_color) if of_color in sources.symbols else -1
            named = np.zeros(len(sources), np.bool_)
            named[owners[sources.codes == code]] = True
            counts[f"{of_color} {of_shape}"] = int(placed.sum()), int((placed & named).sum())
    return counts
