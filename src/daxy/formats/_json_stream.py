"""The examples of an official gSCAN file one by one, however large the file is.

The file is one JSON object whose `examples` has lists of objects. It is read by pieces; what tells
where an object begins and ends are braces and brackets outside of strings, which are found in a
whole piece at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import WrongFile, quote
from daxy.core.json_objects import NotJSON, decode
from daxy.core.kinds import HEAD, check_kind

PIECE = 1 << 23
"""Bytes that are read at a time."""
LARGEST = 1 << 20
"""Bytes of an example at most."""
LARGEST_HEADER = 1 << 24
"""Bytes outside of the examples at most."""
IN_OBJECT, IN_LIST, IN_EXAMPLE = 2, 3, 4
"""How many braces and brackets are open: in `examples`, in a list there, and in an example."""

QUOTE, BACKSLASH, BRACE = b'"\\{'
BRACKETS = tuple(b"[]")
OPENING = tuple(b"{[")
MARKS = np.zeros(256, np.bool_)
MARKS[list(b'"{}[]')] = True
TYPES = ("adverb", "normal", "simple_trans", "simple_intrans")
"""The authors' set types, in the header's `type_grammar`."""
FILE = f"a dataset.txt of gSCAN with type_grammar {', '.join(TYPES[:-1])} or {TYPES[-1]}"
NAME = re.compile(rb'"([^"\\]*)"\s*:\s*$')


class Found(NamedTuple):
    """An example as it stands in a file."""

    split: str
    number: int
    """In its split, from 0."""
    text: bytes


@dataclass
class Stream:
    """A file while it is read; `header` is complete after the last example."""

    path: Path
    header: dict[str, Any] = field(default_factory=dict[str, Any])
    splits: list[str] = field(default_factory=list[str])
    """The lists of examples so far, also those that are empty."""

    def __iter__(self) -> Iterator[Found]:
        """Yield the examples in their order.

        Raises:
            WrongFile: the file is missing, cut off, or no JSON object with lists of examples.
        """
        outside = _Outside(self.path)
        split, number, scanner = "", 0, _Scanner()
        within = listed = False
        """Whether this is in `examples`, and in a list of it."""
        text, begun = b"", 0
        """What is kept of the pieces before, and where in it the example or gap begins."""
        base = 0
        """Place in the file of the beginning of that."""
        for piece in _pieces(self.path):
            known = len(text)
            text += piece
            for at, opens, level, kind in scanner.scan(text, known):
                if level == IN_OBJECT:
                    outside.add(text[begun : at + 1], base + begun)
                    begun = at + 1
                    within = opens and kind == BRACE and outside.name() == "examples"
                elif level == IN_LIST and within and kind in BRACKETS:
                    if opens:
                        outside.add(text[begun : at + 1], base + begun)
                        split, number, begun = self._list(outside), 0, at + 1
                    else:
                        self._check_gap(text[begun:at], split, number, last=True)
                        begun = at
                    listed = opens
                elif level == IN_EXAMPLE and listed and opens:
                    self._check_gap(text[begun:at], split, number)
                    begun = at
                elif level == IN_EXAMPLE and listed:
                    self._check_size(at - begun, split, number)
                    yield Found(split, number, text[begun : at + 1])
                    number, begun = number + 1, at + 1
            if listed:
                self._check_size(len(text) - begun, split, number)
            else:
                outside.add(text[begun:], base + begun)
                begun = len(text)
            base += begun
            text, begun = text[begun:], 0
        if scanner.depth > 0 or scanner.quoted:
            where = f"in example {number} of {quote(split)}" if listed else "in its header"
            raise WrongFile(self.path, f"cut off {where}")
        self.header = self._header(outside)

    def _list(self, outside: _Outside) -> str:
        """Return the name of the list of examples that has just been opened."""
        name = outside.name()
        if not name:
            raise WrongFile(self.path, SHAPE)
        self.splits.append(name)
        return name

    def _check_size(self, size: int, split: str, number: int) -> None:
        """Refuse an example that does not end."""
        if size > LARGEST:
            problem = f"example {number} has more than {LARGEST:,} bytes; does a brace lack?"
            raise WrongFile(self.path, f"{split}: {problem}")

    def _check_gap(self, gap: bytes, split: str, number: int, *, last: bool = False) -> None:
        """Refuse anything but a comma between examples."""
        wanted = (b"",) if last or number == 0 else (b",",)
        if gap.strip() not in wanted:
            said = gap.strip()[:1000].decode(errors="replace")
            problem = f"{quote(said)} before example {number}; expected one comma between examples"
            raise WrongFile(self.path, f"{split}: {problem}")

    def _header(self, outside: _Outside) -> dict[str, Any]:
        try:
            value = decode(bytes(outside.text))
        except NotJSON as error:
            problem = f"no JSON outside of the examples: {error.problem.removeprefix('no JSON: ')}"
            raise WrongFile(self.path, f"{problem} at byte {outside.place(error):,}") from None
        examples = value.get("examples") if isinstance(value, dict) else None
        lists = isinstance(examples, dict) and all(each == [] for each in examples.values())
        if not lists:
            raise WrongFile(self.path, SHAPE)
        return {name: each for name, each in value.items() if name != "examples"}


@dataclass
class _Outside:
    """The bytes of a file outside of its examples, and where in the file each run of them was."""

    path: Path
    text: bytearray = field(default_factory=bytearray)
    runs: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Where a run begins: here, and in the file."""

    def add(self, more: bytes, place: int) -> None:
        """Add a run of bytes that begins at a place of the file."""
        if not self.runs or place - self.runs[-1][1] != len(self.text) - self.runs[-1][0]:
            self.runs.append((len(self.text), place))
        self.text += more
        if len(self.text) > LARGEST_HEADER:
            problem = f"has more than {LARGEST_HEADER:,} bytes outside of its examples"
            raise WrongFile(self.path, problem)

    def name(self) -> str:
        """Return the name of what has just been opened; nothing if it has none."""
        found = NAME.search(self.text, max(0, len(self.text) - 200), len(self.text) - 1)
        return found[1].decode(errors="replace") if found else ""

    def place(self, error: NotJSON) -> int:
        """Return the byte of the file at which this is no JSON, from 1."""
        before = self.text.split(b"\n")[: error.line]
        last = before.pop().decode(errors="replace")[: (error.column or 1) - 1]
        here = sum(len(line) + 1 for line in before) + len(last.encode())
        begin, place = next((run for run in reversed(self.runs) if run[0] <= here), (0, 0))
        return place + here - begin + 1


SHAPE = "expected one JSON object with `examples`: an object of lists of examples"


@dataclass
class _Scanner:
    """Finds what opens or closes `examples`, a list of examples, or an example."""

    depth: int = 0
    """Braces and brackets that are open after what was looked at."""
    quoted: bool = False
    """Whether a string is open there."""

    def scan(self, text: bytes, known: int) -> Iterator[tuple[int, bool, int, int]]:
        """Return places, whether something opens there, at which depth, and which mark it is.

        Args:
            text: The text.
            known: How much of it was looked at before.
        """
        places, kinds = self._marks(text, known)
        steps = np.where(np.isin(kinds, OPENING), 1, -1)
        depths = self.depth + np.cumsum(steps)
        self.depth = int(depths[-1]) if len(depths) else self.depth
        levels = np.where(steps > 0, depths, depths + 1)
        matter = np.flatnonzero((levels >= IN_OBJECT) & (levels <= IN_EXAMPLE))
        columns = (places, steps > 0, levels, kinds)
        return zip(*(column[matter].tolist() for column in columns), strict=True)

    def _marks(self, text: bytes, known: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return the places and kinds of the braces and brackets outside of strings."""
        whole = np.frombuffer(text, np.uint8)
        places = np.flatnonzero(MARKS[whole[known:]]) + known
        kinds = whole[places]
        quotes = kinds == QUOTE
        if BACKSLASH in text[max(0, known - 1) :]:
            quotes &= ~_escaped(whole, places)
        inside = (np.cumsum(quotes) + self.quoted) % 2 == 1
        self.quoted = bool(inside[-1]) if len(inside) else self.quoted
        marks = (kinds != QUOTE) & ~inside
        return places[marks], kinds[marks]


def _escaped(whole: NDArray[np.uint8], places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return where an odd number of backslashes goes before a place."""
    odd = np.zeros(len(places), np.bool_)
    before, rows = places - 1, np.arange(len(places))
    while len(rows):
        more = (before >= 0) & (whole[before] == BACKSLASH)
        before, rows = before[more] - 1, rows[more]
        odd[rows] ^= True
    return odd


def _pieces(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            check_kind(first := file.read(HEAD), path, FILE, reads=("json", "gscan"))
            if not first.lstrip().startswith(b"{"):
                raise WrongFile(path, f"is no JSON object; expected {FILE}")
            yield first
            while piece := file.read(PIECE):
                yield piece
    except FileNotFoundError:
        raise WrongFile(path, "no such file") from None
    except OSError as error:
        raise WrongFile(path, f"cannot be read: {error.strerror or error}") from error
