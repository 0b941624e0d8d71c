"""Pairs in any format that daxy writes: known by what a file begins with.

`daxy.core.kinds` recognises Parquet, JSON lines, gSCAN's `dataset.txt` and SCAN's text. Of other
text, `<s> ` begins joint sequences, a tab in the first line stands between two sides, and a name
such as `train.src` is of one of two files with a side each. A format of another package is known by
the name of the file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from daxy import formats
from daxy.core.examples import Examples
from daxy.core.files import read_bytes
from daxy.core.kinds import HEAD, check_kind, kind_of
from daxy.formats import BY_SUFFIX
from daxy.formats._format import PAIRS

FORMAT_OF_KIND = {
    "parquet": "parquet",
    "json-lines": "jsonl",
    "gscan": "gscan-json",
    "json": "gscan-json",
    "scan-text": "scan-text",
}
"""Formats by the kinds of `daxy.core.kinds`; the reader of gSCAN says what another object lacks."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of a file, part by part."""

    form: str
    """The format, as `daxy export --format` has it."""
    parts: Mapping[str, Examples]
    """By name; a file of one part that does not say which has it as an empty name."""


def format_of(path: Path, head: bytes | None = None) -> str:
    """Return the format of a file by what it begins with.

    Args:
        path: The file.
        head: Its first bytes, where they are known.

    Raises:
        WrongFile: it cannot be read.
    """
    if path.suffix.lower() not in BY_SUFFIX and (other := formats.of_suffix(path.suffix.lower())):
        return other
    head = _head(path) if head is None else head
    kind = kind_of(head)
    if kind is not None and kind.name in FORMAT_OF_KIND:
        return FORMAT_OF_KIND[kind.name]
    check_kind(head, path, PAIRS)
    if head.startswith(b"<s> "):
        return "joint-text"
    if b"\t" in head.partition(b"\n")[0]:
        return "tsv"
    return "parallel" if path.suffix in (".src", ".trg") else "scan-text"


def read(path: Path) -> Pairs:
    """Return the pairs of a file.

    Raises:
        WrongFile: it cannot be read, or a line of it is wrong.
    """
    # A pipe can be read once only; what is no file at all is refused there.
    data = None if path.is_file() else read_bytes(path, PAIRS)
    form = format_of(path, data)
    found = formats.get(form)
    return Pairs(form, found.read(path) if data is None else found.parse(data, path))


def _head(path: Path) -> bytes:
    """Return the first bytes of a file, or all of a pipe."""
    if not path.is_file():
        return read_bytes(path, PAIRS)
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(HEAD)
    return read_bytes(path)  # says why it cannot be read
