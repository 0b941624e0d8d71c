"""Examples whose commands are said in a world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import WrongRequest
from daxy.core.examples import Example, Examples, Sequences, Views, key_of
from daxy.languages.grounded import parse
from daxy.worlds.columns import CELLS, Worlds
from daxy.worlds.grid import ACTIONS, World


@dataclass(frozen=True, slots=True)
class GroundedExample(Example):
    """A command, the world it is said in, and the actions that it asks for there."""

    world: World  # pyright: ignore[reportIncompatibleMethodOverride, reportIncompatibleVariableOverride]

    def _repr_svg_(self) -> str:
        """Return the picture that a notebook shows: the world with the target and the path.

        What an augmentation made may be no command, or speak of no one thing: then none is marked.
        What a file holds may be no actions: then there is no path.
        """
        from daxy.worlds.drawing import demonstration, svg

        actions = self.target if set(self.target) <= set(ACTIONS) else ()
        try:
            return demonstration(self.world, parse(self.source), actions).decode()
        except WrongRequest:
            return svg(self.world, path=self.world.path(actions))


@dataclass(frozen=True, eq=False, repr=False)
class GroundedExamples(Examples):
    """A columnar table of commands, actions and the worlds they belong to."""

    worlds: Worlds

    def __post_init__(self) -> None:
        super().__post_init__()
        assert len(self.worlds) == len(self.source), (len(self.worlds), len(self.source))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The key of each example; equal commands, worlds and actions have equal keys."""
        return tuple(map(key_of, self.source, self.target, self.worlds.contents))

    @overload
    def __getitem__(self, index: int) -> GroundedExample: ...
    @overload
    def __getitem__(self, index: slice) -> GroundedExamples: ...
    def __getitem__(self, index: int | slice) -> GroundedExample | GroundedExamples:
        if isinstance(index, slice):
            return GroundedExamples(self.source[index], self.target[index], self.worlds[index])
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return next(iter(self.take([index % len(self)])))

    def __iter__(self) -> Iterator[GroundedExample]:
        return map(GroundedExample, self.keys, self.source, self.target, self.worlds)

    @classmethod
    def joined(cls, parts: Sequence[GroundedExamples]) -> GroundedExamples:
        """Return the examples of all parts, which have one dictionary, one after another."""
        return cls(
            Sequences.joined([part.source for part in parts]),
            Sequences.joined([part.target for part in parts]),
            Worlds.joined([part.worlds for part in parts]),
        )

    @property
    def views(self) -> Views:
        """The worlds as networks see them.

        Raises:
            WrongRequest: their grids are not of one size.
        """
        return Views(self.worlds.maps, CELLS)

    @property
    def content(self) -> Iterator[bytes]:
        """What the examples and their order, and nothing else, decide."""
        yield from super().content
        yield from self.worlds.content
        yield self.worlds.offsets.astype("<i8").tobytes()

    def take(self, rows: NDArray[np.integer] | Sequence[int]) -> GroundedExamples:
        """Return the examples at these positions, in this order, repeats included."""
        return GroundedExamples(
            self.source.take(rows), self.target.take(rows), self.worlds.take(rows)
        )
