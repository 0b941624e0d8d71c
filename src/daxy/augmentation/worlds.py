"""GECA where commands are said in worlds (Ruis et al. 2020, section 4 and appendix C).

What is taken apart and filled is a command with the thing that it speaks of: `walk to a red circle`
beside a circle, red, of size 3. What comes of that is written back: an example that a template was
cut out of gets the new command, and in its world the new thing stands where the old one stood. Its
actions stay as they are, right or wrong.
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
from daxy.worlds.columns import Worlds, code_of, thing_of, worlds_of

Rows = NDArray[np.int64]
Things = NDArray[np.uint8]
"""[count, 3], as `Worlds` has them."""


@dataclass(frozen=True)
class Rewritten:
    """A training set in which some examples are others now, and what was added to it."""

    given: Examples
    added: Examples
    made_of: Rows
    """The training example that each of the added ones was made of."""
    compositions: tuple[Composition, ...]
    """What was written back; several may make the same of one example."""
    changed: int
    """Examples of the training set that are others now."""

    @property
    def examples(self) -> Examples:
        """All of them."""
        return Examples.joined([self.given, self.added])


@dataclass(frozen=True, eq=False)
class Rewriter:
    """What can be made of a training set with worlds, of each of which the target comes first."""

    train: Examples
    geca: Geca

    def __post_init__(self) -> None:
        worlds_of(self.train)

    def rewritten(self, seed: int) -> Rewritten:
        """Return the training set as it is after augmentation.

        Every example that something can be made of becomes one of that, drawn by the seed; and
        `geca.count` examples made of some of them, drawn too, stand beside.

        Raises:
            WrongRequest: a world has no things, and so no target; or nothing is to be added, and
                nothing changed.
        """
        nothing = "with no-in-place count must be positive, not 0"
        require(self.geca.in_place or self.geca.count > 0, nothing)
        made = tuple(self._composer.made(seed))
        choices = self._choices(made)
        rows = np.flatnonzero(np.diff(choices.offsets)[self._pair_of] > 0)
        chosen = stream(seed, "geca, what is added")
        more = rows[chosen.integers(len(rows), size=self.geca.count)] if len(rows) else rows
        every = np.arange(len(self.train))
        changing = rows if self.geca.in_place else rows[:0]
        given = self._written(every, changing, choices, stream(seed, "geca, what becomes of it"))
        added = self._written(more, np.arange(len(more)), choices, chosen)
        return Rewritten(given, added, more, made, len(changing))

    @cached_property
    def _targets(self) -> Things:
        return _first_things(worlds_of(self.train))

    @cached_property
    def _commands(self) -> tuple[list[Tokens], NDArray[np.int64]]:
        """The distinct commands, and the place of each example's among them."""
        said = list(self.train.source)
        place = {tokens: number for number, tokens in enumerate(sorted(set(said)))}
        return list(place), np.fromiter(map(place.__getitem__, said), np.int64, len(said))

    @cached_property
    def _distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Distinct pairs of a command and a thing, and which of them each example is of."""
        _, commands = self._commands
        pairs = np.column_stack([commands, self._targets.astype(np.int64)])
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

    def _choices(self, made: tuple[Composition, ...]) -> _Choices:
        """Return what each pair can become."""
        can_be: dict[tuple[Tokens, Tokens], dict[tuple[Tokens, Tokens], None]] = {}
        for each in made:
            for origin in each.origins:
                can_be.setdefault(origin, {})[each.source, each.target] = None
        found = [list(can_be.get(pair, ())) for pair in self._pairs]
        counts = [len(own) for own in found]
        flat = [pair for own in found for pair in own]
        things = [code_of(thing_spelled(target)) for _, target in flat]
        return _Choices(
            commands=[source for source, _ in flat],
            things=np.array(things, np.uint8).reshape(-1, 3),
            offsets=np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
        )

    def _written(
        self, rows: Rows, changing: Rows, choices: _Choices, draws: np.random.Generator
    ) -> Examples:
        """Return the examples at these rows, those at some places of them changed."""
        examples = self.train.take(rows)
        pairs = self._pair_of[rows[changing]]
        first, counts = choices.offsets[:-1][pairs], np.diff(choices.offsets)[pairs]
        chosen = first + draws.integers(counts) if len(pairs) else first
        known, commands = self._commands
        said = commands[rows].copy()
        said[changing] = len(known) + chosen
        worlds = worlds_of(examples)
        things = worlds.things.copy()
        things[worlds.offsets[:-1][changing]] = choices.things[chosen]
        symbols = examples.source.symbols
        source = Sequences.of([*known, *choices.commands], symbols).take(said)
        return Examples(source, examples.target, replace(worlds, things=things))


@dataclass(frozen=True, eq=False)
class _Choices:
    """What each pair of a command and a thing can become, one pair's after another's."""

    commands: list[Tokens]
    things: Things
    offsets: NDArray[np.int64]


def spelled(thing: Thing) -> Tokens:
    """Return a thing as tokens, none of which is a word of a command."""
    return tuple(f"{name}={value}" for name, value in thing._asdict().items())


def thing_spelled(tokens: Tokens) -> Thing:
    """Return the thing that `spelled` gives these tokens for.

    Raises:
        WrongRequest: they are of no thing.
    """
    require(tuple(tokens) in _SPELLED, f"{' '.join(tokens)} spells no thing")
    return _SPELLED[tuple(tokens)]


_SPELLED = {spelled(thing): thing for thing in map(Thing._make, product(SHAPES, COLORS, SIZES))}
"""All things, by the tokens that they are spelled with."""


def targets(examples: Examples) -> Mapping[str, tuple[int, int]]:
    """Return how often each kind of thing is the target, and is called by its color (Table 4).

    Raises:
        WrongRequest: a world has no things.
    """
    things = _first_things(worlds_of(examples))
    said = examples.source
    owners = np.repeat(np.arange(len(said)), said.lengths)
    found: dict[str, tuple[int, int]] = {}
    for shape, of_shape in enumerate(SHAPES):
        for color, of_color in enumerate(COLORS):
            placed = (things[:, 0] == shape) & (things[:, 1] == color)
            code = said.symbols.index(of_color) if of_color in said.symbols else -1
            called = np.zeros(len(said), np.bool_)
            called[owners[said.codes == code]] = True
            found[f"{of_color} {of_shape}"] = int(placed.sum()), int((placed & called).sum())
    return found


def _first_things(worlds: Worlds) -> Things:
    """Return the targets: the first thing of each world."""
    bare = np.flatnonzero(np.diff(worlds.offsets) == 0).tolist()
    none = f"the world of example {min(bare, default=0)} has no things, and so no target"
    require(not bare, none)
    return worlds.things[worlds.offsets[:-1]]
