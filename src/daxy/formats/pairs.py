"""Pairs in any format that daxy writes, recognised by the beginning of a file.

`daxy.core.kinds` recognises Parquet, JSON lines, gSCAN's `dataset.txt` and SCAN's text. In other
text, `<s> ` begins joint sequences and a tab separates two sides; files as `train.src` have a side
each. Formats of other packages are recognised by suffix.
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
from daxy.formats import BY_SUFFIX, hub
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
    """Name of the format."""
    parts: Mapping[str, Examples]
    """By name; empty in a file that names no part."""


def format_of(path: Path, head: bytes | None = None) -> str:
    """Return the format of a file by its beginning.

    Args:
        path: The file.
        head: Its first bytes, if known.

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
    """Return the pairs of a file, or of a folder in the format hub.

    Raises:
        WrongFile: it cannot be read, or a line of it is wrong.
    """
    if (path / hub.DATA).is_dir():
        return Pairs("hub", formats.get("hub").read(path))
    if not path.is_file():  # a pipe can be read only once
        return parsed(read_bytes(path, PAIRS), path)
    form = format_of(path)
    return Pairs(form, formats.get(form).read(path))


def parsed(data: bytes, path: Path) -> Pairs:
    """Return the pairs in the bytes of a file, named `path` in errors; see `read`."""
    form = format_of(path, data)
    return Pairs(form, formats.get(form).parse(data, path))


def _head(path: Path) -> bytes:
    if not path.is_file():
        return read_bytes(path, PAIRS)
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(HEAD)
    return read_bytes(path)  # says why it cannot be read
