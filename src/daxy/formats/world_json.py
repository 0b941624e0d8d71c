"""One world as JSON, or as the situation of an official gSCAN example.

{"size": 4, "agent": [3, 0], "heading": "east",
 "things": [{"shape": "circle", "color": "red", "size": 2, "cell": [2, 0]}]}

Cells are row and column from 0. The agent faces east unless `heading` says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from daxy.core import json_objects
from daxy.core.errors import UnknownName, WrongFile, WrongRequest, quote, require
from daxy.core.files import read_bytes
from daxy.core.kinds import HEAD, check_kind
from daxy.languages.grounded import Thing
from daxy.worlds.grid import HEADINGS, GridCell, Placed
from daxy.worlds.world import World

FIELDS = ("size", "agent", "heading", "things")
FIELDS_OF_A_THING = ("shape", "color", "size", "cell")
DIGITS = 4
JSONS = ("json", "json-array", "json-lines", "gscan", "reascan")
EXAMPLE = "expected an object with `size`, `agent` and `things`, or an example of an official file"


def read(path: Path) -> World:
    """Return the world that a file holds.

    Raises:
        WrongFile: the file is missing, no JSON or no valid world.
    """
    try:
        return from_json(_value(path))
    except WrongRequest as error:
        raise WrongFile(path, str(error)) from error


def _value(path: Path) -> Any:
    expected = "a world as a JSON object"
    data = read_bytes(path, expected)
    check_kind(data[:HEAD], path, expected, reads=JSONS)
    return json_objects.decode_file(data, path)


def from_json(value: Any) -> World:
    """Return the world that a JSON value describes.

    Raises:
        WrongRequest: a field is missing or wrong.
    """
    require(isinstance(value, dict), EXAMPLE)
    if "situation" in value or "agent_position" in value:
        return situation(value.get("situation", value))
    require({"size", "agent", "things"} <= value.keys(), EXAMPLE)
    _check_fields(value, FIELDS, "the world")
    heading = value.get("heading", "east")
    facing = f"heading is {quote(heading)}; expected one of {', '.join(HEADINGS)}"
    require(heading in HEADINGS, facing)
    things = value["things"]
    require(isinstance(things, list), "`things` is not a list")
    placed = (
        Placed(_thing(thing), _pair(thing, "cell", f"thing {place}"))
        for place, thing in enumerate(things, 1)
    )
    size = _count(value, "size", "the world")
    return World(size, _pair(value, "agent", "the world"), tuple(placed), HEADINGS.index(heading))


def to_json(world: World) -> dict[str, Any]:
    """Return the JSON value that describes a world."""
    return {
        "size": world.size,
        "agent": list(world.agent),
        "heading": HEADINGS[world.heading],
        "things": [{**thing._asdict(), "cell": list(cell)} for thing, cell in world.placed],
    }


def situation(value: Any) -> World:
    """Return the world of an official `situation`, where numbers are strings.

    Raises:
        WrongRequest: a field is missing or wrong.
    """
    require(isinstance(value, dict), "`situation` is not an object")
    placed = _object(value, "placed_objects", "the situation")
    things = (
        Placed(
            _thing(_object(each, "object", f"object {number}")),
            _position(each, "position", f"object {number}"),
        )
        for number, each in placed.items()
    )
    size = _count(value, "grid_size", "the situation")
    agent = _position(value, "agent_position", "the situation")
    return World(size, agent, tuple(things), _count(value, "agent_direction", "the situation"))


def _thing(value: Any) -> Thing:
    if not isinstance(value, dict):
        raise WrongRequest(f"{quote(value)} is not an object")
    _check_fields(value, FIELDS_OF_A_THING, "a thing")
    shape, color = (_field(value, name, "a thing") for name in ("shape", "color"))
    if not (isinstance(shape, str) and isinstance(color, str)):
        given = f"`shape` and `color` of a thing are {quote(shape)} and {quote(color)}"
        raise WrongRequest(f"{given}; expected words")
    return Thing(shape, color, _count(value, "size", "a thing"))


def _position(value: Any, name: str, of: str) -> GridCell:
    position = _object(value, name, of)
    return GridCell(*(_count(position, part, f"`{name}` of {of}") for part in ("row", "column")))


def _pair(value: Any, name: str, of: str) -> GridCell:
    cell = _field(value, name, of)
    fits = isinstance(cell, list) and len(cell) == 2 and all(type(each) is int for each in cell)
    if not fits:
        raise WrongRequest(f"`{name}` of {of} is {quote(cell)}; expected [row, column]")
    return GridCell(*cell)


def _count(value: Any, name: str, of: str) -> int:
    """Return a whole number, which may be text as in official files."""
    count = _field(value, name, of)
    digits = isinstance(count, str) and count.isascii() and count.isdigit()
    if digits and len(count) <= DIGITS:
        count = int(count)
    if type(count) is int and count < 256:
        return count
    raise WrongRequest(f"`{name}` of {of} is {quote(count)}; expected a whole number below 256")


def _check_fields(value: Mapping[str, Any], known: Sequence[str], of: str) -> None:
    for name in value:
        if name not in known:
            raise UnknownName(f"field of {of}", name, known)


def _object(value: Any, name: str, of: str) -> dict[str, Any]:
    inner = _field(value, name, of)
    if not isinstance(inner, dict):
        raise WrongRequest(f"`{name}` of {of} is {quote(inner)}; expected an object")
    return inner


def _field(value: Any, name: str, of: str) -> Any:
    require(isinstance(value, dict) and name in value, f"{of} has no `{name}`")
    return value[name]
