"""One world as JSON, or the situation of an example of the official gSCAN files.

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
        WrongFile: it is missing, no JSON, or no world that can be; says what is wrong with it.
    """
    try:
        return from_json(_value(path))
    except WrongRequest as error:
        raise WrongFile(path, str(error)) from error


def _value(path: Path) -> Any:
    """Return the JSON value of a file; see `read`."""
    expected = "a world as a JSON object"
    data = read_bytes(path, expected)
    check_kind(data[:HEAD], path, expected, reads=JSONS)
    return json_objects.decode_file(data, path)


def from_json(value: Any) -> World:
    """Return the world that a JSON value describes.

    Raises:
        WrongRequest: a field is missing or not what it should be.
    """
    require(isinstance(value, dict), EXAMPLE)
    if "situation" in value or "agent_position" in value:
        return situation(value.get("situation", value))
    require({"size", "agent", "things"} <= value.keys(), EXAMPLE)
    _check_fields(value, FIELDS, "the world")
    heading = value.get("heading", "east")
    facing = f"heading is {quote(heading)}; expected one of {', '.join(HEADINGS)}"
    require(heading in HEADINGS, facing)
    things = _list(value, "things")
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
    """Return the world of a `situation` of the official files, where numbers are strings.

    Raises:
        WrongRequest: a field is missing or not what it should be.
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
    found = _object(value, name, of)
    return GridCell(*(_count(found, part, f"`{name}` of {of}") for part in ("row", "column")))


def _pair(value: Any, name: str, of: str) -> GridCell:
    found = _field(value, name, of)
    fits = isinstance(found, list) and len(found) == 2 and all(type(each) is int for each in found)
    if not fits:
        raise WrongRequest(f"`{name}` of {of} is {quote(found)}; expected [row, column]")
    return GridCell(*found)


def _count(value: Any, name: str, of: str) -> int:
    """Return a whole number, which the official files have as text."""
    found = _field(value, name, of)
    digits = isinstance(found, str) and found.isascii() and found.isdigit()
    if digits and len(found) <= DIGITS:
        found = int(found)
    if type(found) is int and found < 256:
        return found
    raise WrongRequest(f"`{name}` of {of} is {quote(found)}; expected a whole number below 256")


def _check_fields(value: Mapping[str, Any], known: Sequence[str], of: str) -> None:
    for name in value:
        if name not in known:
            raise UnknownName(f"field of {of}", name, known)


def _list(value: Mapping[str, Any], name: str) -> list[Any]:
    require(isinstance(value[name], list), f"`{name}` is not a list")
    return value[name]


def _object(value: Any, name: str, of: str) -> dict[str, Any]:
    found = _field(value, name, of)
    if not isinstance(found, dict):
        raise WrongRequest(f"`{name}` of {of} is {quote(found)}; expected an object")
    return found


def _field(value: Any, name: str, of: str) -> Any:
    require(isinstance(value, dict) and name in value, f"{of} has no `{name}`")
    return value[name]
