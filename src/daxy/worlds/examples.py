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
from daxy.worlds.grid import World

PICTURES = 3
"""Examples that a notebook draws of many."""


@dataclass(frozen=True, slots=True)
class GroundedExample(Example):
    """A command, the world it is said in, and the actions that it asks for there."""

    world: World  # pyright: ignore[reportIncompatibleMethodOverride, reportIncompatibleVariableOverride]

    @property
    def texts(self) -> tuple[str, str]:
        """Source and target as text; actions such as `turn left` need commas between them."""
        return " ".join(self.source), ", ".join(self.target)

    def _repr_svg_(self) -> str:
        """Return the picture for a notebook."""
        return picture(self)


@dataclass(frozen=True, eq=False)
class GroundedExamples(Examples):
    """A columnar table of commands, actions and the worlds they belong to."""

    worlds: Worlds

    def __post_init__(self) -> None:
        super().__post_init__()
        assert len(self.worlds) == len(self.source), (len(self.worlds), len(self.source))

    def _repr_html_(self) -> str:
        """Return pictures of the first examples, for a notebook."""
        pictures = "".join(picture(example) for example in self[:PICTURES])
        return (
            f"<div><strong>{len(self):,} examples</strong></div>"
            f'<div style="display:flex;flex-wrap:wrap;gap:1em">{pictures}</div>'
        )

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


def picture(example: GroundedExample) -> str:
    """Return an SVG of an example: the world, the target's frame, the path and a caption.

    An augmented example may refer to no one thing: then the picture has no frame.
    """
    from daxy.worlds.drawing import Caption, demonstration, known, svg

    try:
        return demonstration(example.world, parse(example.source), example.target).decode()
    except WrongRequest:
        caption = Caption(command=" ".join(example.source), actions=example.target)
        return svg(example.world, path=example.world.path(known(example.target)), caption=caption)
