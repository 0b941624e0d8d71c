"""Strict reader of JSON with the positions of errors.

RFC 8259 without repeated keys, numbers outside of 64 bits, halves of surrogate pairs and byte order
marks; `NaN` and `Infinity` are optional.
"""

from __future__ import annotations

import codecs
import json
import re
from math import isfinite
from pathlib import Path
from typing import Any

from daxy.core.errors import WrongFile, quote
from daxy.core.files import read_bytes

MOST_BITS = 64
MOST_BYTES = 1 << 28
"""Maximum bytes of a file with one JSON value."""

_STRING = r'"(?:[^"\\]++|\\.)*+"'
_MARKS = re.compile(rf"{_STRING}|[\[\]{{}}]", re.DOTALL)
_COLON = re.compile(r"\s*:")
_NUMBERS = re.compile(rf"{_STRING}|-?[0-9][-+.eE0-9]*|-?(?:Infinity|NaN)", re.DOTALL)
_ESCAPES = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


class NotJSON(ValueError):  # noqa: N818
    """Bytes that are not the JSON that daxy reads."""

    def __init__(self, problem: str, line: int = 1, column: int | None = None) -> None:
        where = "" if column is None else f" at column {column}"
        super().__init__(f"{problem}{where}")
        self.problem = problem
        """The message without the column."""
        self.line = line
        """From 1."""
        self.column = column
        """The character of the line, from 1; None where the whole line is wrong."""


def read(path: Path, *, constants: bool = False) -> Any:
    """Return the JSON value that a file holds.

    Args:
        path: The file.
        constants: Whether to accept `NaN` and `Infinity`, as in the log of a diverged run.

    Raises:
        WrongFile: the file cannot be read or is not JSON.
    """
    return decode_file(read_bytes(path, most=MOST_BYTES), path, constants=constants)


def decode_file(data: bytes, path: Path, *, constants: bool = False) -> Any:
    """Return the JSON value in the bytes of a file; see `read`."""
    try:
        return decode(data, constants=constants)
    except NotJSON as error:
        raise WrongFile(path, str(error), line=error.line) from None


def decode(data: bytes | str, *, constants: bool = False) -> Any:
    """Return a JSON value.

    Raises:
        NotJSON: the text is not JSON.
    """
    text = _text(data) if isinstance(data, bytes) else data
    return _Reader(text, constants=constants).value()


def _text(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise NotJSON("starts with a byte order mark; expected UTF-8 without one")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        raise _at("not UTF-8", before, len(before)) from None


def _at(problem: str, text: str, place: int) -> NotJSON:
    line = text.count("\n", 0, place) + 1
    return NotJSON(problem, line, place - text.rfind("\n", 0, place))


class _Repeated(ValueError):  # noqa: N818
    """A key that an object has twice."""


class _OutOfRange(ValueError):  # noqa: N818
    """A number that daxy does not read: the problem, and the number as it is written."""


class _Reader:
    def __init__(self, text: str, *, constants: bool) -> None:
        self._text = text
        self._objects = 0
        """Number of objects that have ended."""
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=_whole,
            parse_float=_real,
            parse_constant=None if constants else _refuse,
        )

    def value(self) -> Any:
        if self._text.isspace() or not self._text:
            raise NotJSON("blank")
        try:
            value = self._decoder.decode(self._text)
        except json.JSONDecodeError as error:
            problem = f"no JSON: {error.msg.removesuffix(' at')}"
            raise NotJSON(problem, error.lineno, error.colno) from None
        except _Repeated as error:
            raise self._repeated(str(error)) from None
        except _OutOfRange as error:
            raise self._out_of_range(error) from None
        except RecursionError:
            raise _at("no JSON: nested too deeply", self._text, self._deepest()) from None
        if "\\u" in self._text:
            self._check_surrogates()
        return value

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Return an object, and count it: objects end in the order of their closing braces."""
        value = dict(pairs)
        if len(value) < len(pairs):
            names = [name for name, _ in pairs]
            raise _Repeated(next(name for name in names if names.count(name) > 1))
        self._objects += 1
        return value

    def _repeated(self, key: str) -> NotJSON:
        """Return the error of an object that has a key twice, at the second."""
        problem = f"no JSON: the key {quote(key)} is there twice"
        begins, ended = list[int](), 0
        for mark in _MARKS.finditer(self._text):
            if mark[0] in "{[":
                begins.append(mark.start())
            elif mark[0] in "}]":
                begin = begins.pop()
                ended += mark[0] == "}"
                if mark[0] == "}" and ended > self._objects:
                    places = self._keys(key, begin)
                    return _at(problem, self._text, places[1])
        return NotJSON(problem)

    def _keys(self, key: str, begin: int) -> list[int]:
        """Return where the object that begins at a place has this key."""
        depth, places = 0, list[int]()
        for mark in _MARKS.finditer(self._text, begin):
            depth += (mark[0] in "{[") - (mark[0] in "}]")
            if depth == 0:
                break
            is_key = depth == 1 and mark[0][0] == '"' and _COLON.match(self._text, mark.end())
            if is_key and json.loads(mark[0]) == key:
                places.append(mark.start())
        return places

    def _out_of_range(self, error: _OutOfRange) -> NotJSON:
        for number in _NUMBERS.finditer(self._text):
            if number[0] == error.args[1]:
                return _at(f"no JSON: {error.args[0]}", self._text, number.start())
        return NotJSON(f"no JSON: {error.args[0]}")

    def _deepest(self) -> int:
        depth = deepest = place = 0
        for mark in _MARKS.finditer(self._text):
            depth += (mark[0] in "{[") - (mark[0] in "}]")
            if depth > deepest:
                deepest, place = depth, mark.start()
        return place

    def _check_surrogates(self) -> None:
        for escape in _ESCAPES.finditer(self._text):
            if escape["half"]:
                problem = "half of a surrogate pair is no text"
                raise _at(problem, self._text, escape.start())


def _whole(text: str) -> int:
    if len(text) < MOST_BITS // 4:
        return int(text)
    if len(text) > MOST_BITS or int(text).bit_length() > MOST_BITS:
        raise _OutOfRange(f"the number {quote(text, most=60)} is outside of 64 bits", text)
    return int(text)


def _real(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise _OutOfRange(f"the number {quote(text, most=60)} is outside of 64 bits", text)
    return value


def _refuse(text: str) -> float:
    raise _OutOfRange(f"{text} is no number", text)
