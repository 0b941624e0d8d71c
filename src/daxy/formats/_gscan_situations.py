"""Situations of an official gSCAN file: agent, objects and facts on the target."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple

import msgspec

from daxy.core.errors import in_one_line, quote
from daxy.formats._gscan_vectors import Code, Vectors
from daxy.formats._gscan_words import WrongExample, direction
from daxy.languages.grounded import COLORS, SHAPES, SIZES

MOST_OBJECTS = 1 << 14
"""Maximum number of decoded objects in memory: all of a 12 by 12 grid."""
NUMBERS = {str(number): number for number in range(256)}
"""Numbers are written as strings."""


class _Position(msgspec.Struct, forbid_unknown_fields=True):
    row: str
    column: str


class _Words(msgspec.Struct, forbid_unknown_fields=True):
    shape: str
    color: str
    size: str


class _Object(msgspec.Struct, forbid_unknown_fields=True):
    vector: str
    position: _Position
    object: _Words


class Situation(msgspec.Struct, forbid_unknown_fields=True):
    """Situation as an official file has it, its objects not yet decoded."""

    grid_size: int
    agent_position: _Position
    agent_direction: int
    target_object: msgspec.Raw
    distance_to_target: str
    direction_to_target: str
    placed_objects: dict[str, msgspec.Raw]
    carrying_object: None


OBJECT = msgspec.json.Decoder(_Object)


def check_equal(name: str, given: str, expected: str) -> None:
    """Refuse a value that differs from the one implied by others."""
    if given != expected:
        raise WrongExample(f"{name} is {quote(given)}; expected {quote(expected)}")


class Thing(NamedTuple):
    """Object of a situation."""

    data: bytes
    """Five bytes: shape, color, size, row, column."""
    kind: tuple[Code, str]
    """Its shape, color and size, and its vector."""


class Situations:
    """Reader of situations; each distinct object (1,728 of a 6 by 6 grid) is decoded once."""

    def __init__(self) -> None:
        self.vectors = Vectors()
        self._thing = lru_cache(maxsize=MOST_OBJECTS)(_thing)

    def read(self, situation: Situation) -> tuple[bytes, list[Thing]]:
        """Return the agent in four bytes (size, row, column, heading), and the objects.

        Raises:
            WrongExample: the situation disagrees with itself.
        """
        size, heading = situation.grid_size, situation.agent_direction
        if not 0 < size < 256:
            raise WrongExample(f"grid_size is {size}; expected 1 to 255")
        if heading not in range(4):
            raise WrongExample(f"agent_direction is {heading}; expected 0 to 3")
        row, column = _cell(situation.agent_position, size, "the agent")
        things = self._things(situation.placed_objects, size)
        self.vectors.add([thing.kind for thing in things])
        target, first = bytes(situation.target_object), bytes(situation.placed_objects["0"])
        if target != first and _object(target, "target_object") != _object(first, "object 0"):
            raise WrongExample("target_object is not object 0 of placed_objects")
        rows, columns = things[0].data[3] - row, things[0].data[4] - column
        if rows == columns == 0:
            raise WrongExample("the agent stands on the target")
        check_equal(
            "distance_to_target", situation.distance_to_target, str(abs(rows) + abs(columns))
        )
        check_equal("direction_to_target", situation.direction_to_target, direction(rows, columns))
        return bytes((size, row, column, heading)), things

    def _things(self, objects: Mapping[str, msgspec.Raw], size: int) -> list[Thing]:
        if not objects:
            raise WrongExample("placed_objects is empty: the target is missing")
        if list(objects) != _numbers(len(objects)):
            place, number = next(each for each in enumerate(objects) if each[1] != str(each[0]))
            raise WrongExample(f"placed_objects has {quote(number)} where '{place}' is expected")
        try:
            things = [self._thing(bytes(text), size) for text in objects.values()]
        except WrongExample:  # decode again, to name the object
            for number, text in objects.items():
                _thing(bytes(text), size, f"object {number}")
            raise
        cells = [thing.data[3:] for thing in things]
        if len(set(cells)) < len(cells):
            number = next(place for place, cell in enumerate(cells) if cell in cells[:place])
            problem = f"object {number} is on the cell {tuple(cells[number])}, where another one is"
            raise WrongExample(problem)
        return things


@cache
def _numbers(count: int) -> list[str]:
    return list(map(str, range(count)))


def _thing(text: bytes, size: int, name: str = "an object") -> Thing:
    thing = _object(text, name)
    cell = _cell(thing.position, size, name)
    code = _code(thing.object)
    return Thing(bytes((*code, *cell)), (code, thing.vector))


def _object(text: bytes, name: str) -> _Object:
    try:
        return OBJECT.decode(text)
    except ValueError as error:
        raise WrongExample(f"{name}: {in_one_line(str(error))}") from None


def _cell(position: _Position, size: int, of: str) -> tuple[int, int]:
    row, column = NUMBERS.get(position.row, 256), NUMBERS.get(position.column, 256)
    if row >= size or column >= size:
        place = f"row {quote(position.row, most=60)} and column {quote(position.column, most=60)}"
        raise WrongExample(f"{of} is at {place}, which is no cell of a grid of {size} by {size}")
    return row, column


def _code(words: _Words) -> Code:
    for value, known, name in (
        (words.shape, SHAPES, "shape"),
        (words.color, COLORS, "color"),
        (words.size, tuple(map(str, SIZES)), "size"),
    ):
        if value not in known:
            raise WrongExample(f"no {name} {quote(value)}; expected one of {', '.join(known)}")
    return SHAPES.index(words.shape), COLORS.index(words.color), SIZES.index(int(words.size))
