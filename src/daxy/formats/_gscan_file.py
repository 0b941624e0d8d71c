"""An official gSCAN file as its header and the JSON text of each example.

msgspec finds the examples in the mapped file and copies none of them. It does not decode them: each
value of the header, and later each example, is decoded by itself.
"""

from __future__ import annotations

import mmap
import re
from collections import Counter
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from daxy.core.errors import WrongFile, in_one_line, quote
from daxy.core.files import LARGEST
from daxy.core.json_objects import NotJSON, decode
from daxy.core.kinds import HEAD, check_kind

LARGEST_HEADER = 1 << 24
"""Bytes of the header's values at most."""
TYPES = ("adverb", "normal", "simple_trans", "simple_intrans")
"""The authors' set types, in the header's `type_grammar`."""
FILE = f"a dataset.txt of gSCAN with type_grammar {', '.join(TYPES[:-1])} or {TYPES[-1]}"
SHAPE = "expected one JSON object with `examples`: an object of lists of examples"

IN_OBJECT, IN_LIST, IN_EXAMPLE = 2, 3, 4
"""Number of open braces and brackets in `examples`, in a list there and in an example."""
MOST_OPEN = 100
"""More braces and brackets than any example needs."""
# Patterns, which `re` compiles when a file is damaged:
FLAT = rb'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*+'
"""Text without braces and brackets outside of strings."""
BRACKET = rb"%b([\[\]{}])" % FLAT
"""Text up to the next brace or bracket, and that."""
LEVELS = 8
"""More braces and brackets than an official example has open."""
NESTED = reduce(
    lambda inner, _: rb"%b(?:[\[{]%b[\]}]%b)*+" % (FLAT, inner, FLAT), range(LEVELS), FLAT
)
EXAMPLE = rb"%b[\[{]%b[\]}]" % (FLAT, NESTED)
"""A whole example and what stands before it: four times as fast as its brackets one by one."""
NAME = rb'(?s)"([^"\\]*)"\s*:\s*.$'
"""Name of the value that a brace or bracket opens."""
LONGEST_NAME = 200
"""Bytes before a brace or bracket in which its name is."""
CUT_OFF = "Input data was truncated"
"""Message of msgspec about a file that ends too early."""
MALFORMED = re.compile(r"JSON is malformed: (?P<problem>.*) \(byte (?P<byte>[0-9]+)\)")
"""Message of msgspec about a file that is no JSON; bytes count from 0."""
NO_OBJECT = msgspec.Raw(b"null")

Value = TypeVar("Value")


class GscanFile(NamedTuple):
    """An official file, its examples not yet decoded."""

    header: dict[str, Any]
    """All fields but `examples`."""
    splits: dict[str, list[msgspec.Raw]]
    """JSON texts of the examples by the name of their list; views of the file."""


class _Name:
    """A key without equality, so that a repeated key does not replace the first value."""

    def __init__(self, text: str) -> None:
        self.text = text


def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind, dec_hook=lambda _, text: _Name(text))


VALUES = _decoder(dict[_Name, msgspec.Raw])
LISTS = _decoder(dict[_Name, list[msgspec.Raw]])


def read(path: Path) -> GscanFile:
    """Read the header of a file and find its examples.

    Raises:
        WrongFile: the file is missing, cut off, or no JSON object with lists of examples.
    """
    data = _content(path)
    try:
        header = _by_name(path, VALUES.decode(data))
        splits = _by_name(path, LISTS.decode(header.pop("examples", NO_OBJECT)))
    except msgspec.ValidationError:
        raise WrongFile(path, SHAPE) from None
    except (ValueError, RecursionError) as error:
        raise WrongFile(path, _damage(data, error)) from None
    if "" in splits:
        raise WrongFile(path, SHAPE)
    return GscanFile(_decoded(path, header), splits)


def problem_of(text: bytes) -> str | None:
    """Return why and where a text is no JSON; None if it is JSON."""
    try:
        decode(text)
    except NotJSON as error:
        return f"{error} of its line {error.line}" if error.line > 1 else str(error)
    return None


def _content(path: Path) -> mmap.mmap | bytes:
    """Map a file into memory, or read a pipe."""
    try:
        with path.open("rb") as file:
            check_kind(head := file.read(HEAD), path, FILE, reads=("json", "gscan"))
            if not head.lstrip().startswith(b"{"):
                raise WrongFile(path, f"is no JSON object; expected {FILE}")
            if path.is_file():
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return head + file.read(LARGEST)
    except FileNotFoundError:
        raise WrongFile(path, "no such file") from None
    except OSError as error:
        raise WrongFile(path, f"cannot be read: {error.strerror or error}") from error


def _by_name(path: Path, values: Mapping[_Name, Value]) -> dict[str, Value]:
    counts = Counter(name.text for name in values)
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise WrongFile(path, f"no JSON: the key {quote(repeated[0])} is there twice")
    return {name.text: value for name, value in values.items()}


def _decoded(path: Path, header: Mapping[str, msgspec.Raw]) -> dict[str, Any]:
    texts = {name: bytes(value) for name, value in header.items()}
    if sum(map(len, texts.values())) > LARGEST_HEADER:
        raise WrongFile(path, f"has more than {LARGEST_HEADER:,} bytes outside of its examples")
    for name, text in texts.items():
        if problem := problem_of(text):
            raise WrongFile(path, f"in its header: {quote(name)}: {problem}")
    return {name: decode(text) for name, text in texts.items()}


def _damage(data: mmap.mmap | bytes, error: Exception) -> str:
    """Return why a file is no JSON, and in which example."""
    message = str(error)
    malformed = MALFORMED.fullmatch(message)
    byte = int(malformed["byte"]) if malformed else len(data)
    where = _where(data, byte)
    if message == CUT_OFF:
        return f"cut off {where or 'in its header'}"
    problem = f"{malformed['problem']} at byte {byte + 1:,}" if malformed else in_one_line(message)
    return f"no JSON {where or 'outside of the examples'}: {problem}"


def _where(data: mmap.mmap | bytes, byte: int) -> str:
    """Return the example of a byte, up to which the file is JSON; empty outside of examples."""
    bracket, example = re.compile(BRACKET, re.DOTALL), re.compile(EXAMPLE, re.DOTALL)
    names, number, depth, at = {IN_OBJECT: "", IN_LIST: ""}, 0, 0, 0
    while depth < MOST_OPEN and (mark := bracket.match(data, at, byte)):
        at, opens = mark.end(), mark[1] in b"{["
        depth += opens
        if opens and depth in names:
            name = re.search(NAME, data[max(0, at - LONGEST_NAME) : at])
            names[depth], number = name[1].decode(errors="replace") if name else "", 0
            while depth == IN_LIST and (whole := example.match(data, at, byte)):
                at, number = whole.end(), number + 1
        number += depth == IN_EXAMPLE and not opens
        depth -= not opens
    if depth >= IN_LIST and names[IN_OBJECT] == "examples":
        return f"in example {number} of {quote(names[IN_LIST])}"
    return ""
