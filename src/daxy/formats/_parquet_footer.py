"""Footer of a Parquet file: numbers of rows and values of each row group.

PyArrow ends the process on damaged metadata of a column, since it does not catch exceptions of its
C++ code there. So they are decoded here, by Thrift's compact protocol.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

END = struct.Struct("<I4s")
"""Last bytes of a file: the length of the metadata and `PAR1`."""
DEEPEST = 32
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
INTEGERS = (4, 5, 6)
LONGEST = 10
"""Bytes of a whole number."""
BYTE_ARRAY = 6
"""The physical type of text; statistics of others are numbers."""


class Column(NamedTuple):
    """One column of a group."""

    values: int
    only: str | None
    """The text of all rows, if the statistics prove it."""


class Group(NamedTuple):
    """Rows that are stored together."""

    rows: int
    columns: Mapping[str, Column]
    """By the path in the schema, as `source.list.element`."""


def groups(path: Path) -> list[Group]:
    """Return the groups of rows of a file.

    Raises:
        ValueError: the footer is damaged.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - END.size))
        tail = file.read()
        length, mark = END.unpack(tail) if len(tail) == END.size else (0, b"")
        if mark != b"PAR1" or length > size - END.size:
            raise ValueError("the footer is damaged")
        file.seek(size - END.size - length)
        footer = file.read(length)
    try:
        return [_group(each) for each in _Reader(footer).fields()[4]]
    except (IndexError, KeyError, TypeError, AttributeError, struct.error):
        raise ValueError("the footer is damaged") from None


def _group(fields: Mapping[int, Any]) -> Group:
    columns = dict[str, Column]()
    for chunk in fields[1]:
        about = chunk[3]
        path = b".".join(about[3]).decode()
        is_text = about[1] == BYTE_ARRAY
        only = _only(about.get(12, {})) if is_text else None
        columns[path] = Column(operator.index(about[5]), only)
    return Group(operator.index(fields[3]), columns)


def _only(statistics: Mapping[int, Any]) -> str | None:
    most, least = statistics.get(5), statistics.get(6)
    exact = statistics.get(7, True) and statistics.get(8, True) and not statistics.get(3)
    if not exact or least is None or least != most:
        return None
    try:
        return least.decode()
    except UnicodeDecodeError:
        return None  # bytes that are no text, of a column that nobody asked for


class _Reader:
    """Bytes of the compact protocol while they are read: a struct is its fields by number."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._depth = 0

    def fields(self) -> dict[int, Any]:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError("the footer is nested too deeply")
        found, number = dict[int, Any](), 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            found[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind)
        self._depth -= 1
        return found

    def _value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE, BYTE):
            return self._byte()
        if kind in INTEGERS:
            return self._integer()
        if kind in (DOUBLE, BINARY):
            return self._bytes(8 if kind == DOUBLE else self._length())
        if kind in (LIST, SET):
            return self._list()
        if kind == MAP:
            count = self._length()
            kinds = self._byte() if count else 0
            return [(self._value(kinds >> 4), self._value(kinds & 15)) for _ in range(count)]
        if kind == STRUCT:
            return self.fields()
        raise ValueError("the footer is damaged")

    def _list(self) -> list[Any]:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError("the footer is nested too deeply")
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._length()
        found = [self._value(head & 15) for _ in range(count)]
        self._depth -= 1
        return found

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, count: int) -> bytes:
        self._at += count
        if self._at > len(self._data):
            raise IndexError(self._at)
        return self._data[self._at - count : self._at]

    def _length(self) -> int:
        """Return a whole number, seven bits a byte, the lowest first."""
        value = 0
        for place in range(LONGEST):
            byte = self._byte()
            value |= (byte & 127) << 7 * place
            if byte < 128:
                return value
        raise ValueError("the footer is damaged")

    def _integer(self) -> int:
        value = self._length()
        return (value >> 1) ^ -(value & 1)
