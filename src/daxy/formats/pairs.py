"""Pairs in any format that daxy writes: known by what a file begins with.

| begins with | format |
|---|---|
| `PAR1` | Parquet |
| `{"split"` | JSON lines |
| `{` | gSCAN's `dataset.txt` |
| `IN: ` | SCAN's official text |
| `<s> ` | joint sequences |
| a line with a tab | tab-separated text |
| else | one of two files with a side each, by their names: `train.src` and `train.trg` |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from daxy.core.examples import Examples
from daxy.core.files import read_bytes

SIDES = {".src": ".trg", ".trg": ".src"}
"""Names of two files with a side each, as OpenNMT, Sockeye and fairseq take them."""
HEAD = 1 << 16
"""Bytes that tell a format."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of a file, part by part."""

    form: str
    """The format, as `daxy export --format` has it."""
    parts: Mapping[str, Examples]
    """By name; a file of one part that does not say which has it as an empty name."""


def format_of(path: Path) -> str:
    """Return the format of a file by what it begins with.

    Raises:
        WrongFile: it is missing, or of no format that daxy writes.
    """
    head = _head(path)
    for form, begins in (
        ("parquet", head.startswith(b"PAR1")),
        ("jsonl", head.lstrip().startswith(b'{"split"')),
        ("gscan-json", head.lstrip().startswith(b"{")),
        ("scan-text", head.startswith(b"IN: ")),
        ("joint-text", head.startswith(b"<s> ")),
        ("tsv", b"\t" in head.partition(b"\n")[0]),
        ("parallel", path.suffix in SIDES),
    ):
        if begins:
            return form
    return "scan-text"


def read(path: Path) -> Pairs:
    """Return the pairs of a file.

    Raises:
        WrongFile: it cannot be read, or a line of it is wrong.
    """
    form = format_of(path)
    if form == "parquet":
        from daxy.formats import parquet

        return Pairs(form, parquet.read(path))
    if form == "jsonl":
        from daxy.formats import jsonl

        return Pairs(form, jsonl.read(path))
    if form == "gscan-json":
        from daxy.formats import gscan_json

        return Pairs(form, gscan_json.read(path).parts)
    from daxy.formats import joint_text, parallel_text, scan_text, tsv

    formats = {"scan-text": scan_text, "joint-text": joint_text, "tsv": tsv}
    reader = parallel_text.read if form == "parallel" else formats[form].read
    return Pairs(form, {"": reader(path)})


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError:
        return read_bytes(path)  # says why it cannot be read
