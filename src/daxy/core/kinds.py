"""Kinds of files by their first bytes.

Readers call `check_kind` first, so that errors name an archive, a web page or a file of another
benchmark, not the first unexpected byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from daxy.core.errors import WrongFile

HEAD = 4096
"""Bytes at the beginning of a file that decide its kind."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file."""

    name: str
    """Identifier: `zip`, `json-array`, `gscan`."""
    noun: str
    """Noun phrase for messages: `a zip archive`."""
    advice: str = ""
    """Advice on getting a file that daxy reads."""


UNPACK = "unpack it first"
EMPTY = Kind("empty", "empty")
UTF_16 = Kind("utf-16", "UTF-16 text", "save it as UTF-8: `iconv -f UTF-16 -t UTF-8`")
UTF_32 = Kind("utf-32", "UTF-32 text", "save it as UTF-8: `iconv -f UTF-32 -t UTF-8`")
PICKLE = Kind("pickle", "a pickle", "daxy loads no pickles; save it as text or JSON lines")
LFS = Kind(
    "git-lfs",
    "a Git LFS pointer and not the file that it stands for",
    "fetch that with `git lfs pull`",
)
HTML = Kind("html", "a web page (HTML or XML)", "download the raw file")
NOT_FOUND = Kind("not-found", "the error message of a web server", "check the address")
BINARY = Kind("binary", "binary data")
JSON = Kind("json", "a JSON object")
JSON_ARRAY = Kind("json-array", "a JSON array", "convert it with `jq -c '.[]' FILE`")
JSON_LINES = Kind("json-lines", "JSON lines")
GSCAN = Kind(
    "gscan",
    "a dataset.txt of gSCAN",
    "`--official` of gscan/compositional and gscan/length takes it",
)
REASCAN = Kind(
    "reascan",
    "a file of ReaSCAN (type_grammar 'ReaSCAN-Grammer')",
    "daxy knows gSCAN's commands and worlds, and not the relative clauses of ReaSCAN",
)
VOCABULARY = Kind("vocabulary", "a vocabulary of the gSCAN authors' program")
SCAN_TEXT = Kind(
    "scan-text",
    "text with lines `IN: ... OUT: ...`, as SCAN's",
    "the tasks scan/... and nacs/... take it",
)

TEXTS = frozenset(
    {"empty", "html", "not-found", "git-lfs", "json", "json-array", "json-lines", "gscan"}
    | {"reascan", "scan-text", "vocabulary"}
)
"""Kinds of UTF-8 text; readers of lines refuse them if the first line is wrong."""

SIGNATURES: tuple[tuple[int, bytes, Kind], ...] = (
    (0, b"PK\x03\x04", Kind("zip", "a zip archive", UNPACK)),
    (0, b"PK\x05\x06", Kind("zip", "an empty zip archive")),
    (0, b"\x1f\x8b", Kind("gzip", "compressed by gzip", UNPACK)),
    (0, b"\xfd7zXZ\x00", Kind("xz", "compressed by xz", UNPACK)),
    (0, b"BZh", Kind("bzip2", "compressed by bzip2", UNPACK)),
    (0, b"7z\xbc\xaf\x27\x1c", Kind("7z", "a 7z archive", UNPACK)),
    (0, b"\x28\xb5\x2f\xfd", Kind("zstd", "compressed by zstd", UNPACK)),
    (0, b"\x04\x22\x4d\x18", Kind("lz4", "compressed by lz4", UNPACK)),
    (0, b"\x1f\x9d", Kind("compress", "compressed by compress", UNPACK)),
    (0, b"\x5d\x00\x00", Kind("lzma", "compressed by lzma", UNPACK)),
    (0, b"Rar!\x1a\x07", Kind("rar", "a rar archive", UNPACK)),
    (257, b"ustar", Kind("tar", "a tar archive", UNPACK)),
    (0, b"PAR1", Kind("parquet", "Parquet")),
    (0, b"ARROW1", Kind("arrow", "an Arrow file", "save it as Parquet")),
    (0, b"FEA1", Kind("feather", "a Feather file", "save it as Parquet")),
    (0, b"\x89HDF", Kind("hdf5", "an HDF5 file")),
    (0, b"SQLite format 3\x00", Kind("sqlite", "a SQLite database")),
    (0, b"\x93NUMPY", Kind("npy", "a NumPy array")),
    (0, b"%PDF", Kind("pdf", "a PDF document")),
    (0, b"\x89PNG", Kind("png", "a picture (PNG)")),
    (0, b"\xff\xd8\xff", Kind("jpeg", "a picture (JPEG)")),
    (0, b"\xff\xfe\x00\x00", UTF_32),
    (0, b"\x00\x00\xfe\xff", UTF_32),
    (0, b"\xff\xfe", UTF_16),
    (0, b"\xfe\xff", UTF_16),
    (0, b"version https://git-lfs", LFS),
    *((0, bytes((0x80, protocol)), PICKLE) for protocol in range(2, 6)),
)
# Patterns, which `re` compiles and keeps when a file is first read:
OLD_PICKLE = rb"\([dl]p[01]\n|c(?:__builtin__|copy_reg)\n|[\]}]q\x00"
"""Beginning of a pickle of protocol 0 or 1."""
MARKUP = rb"(?i)<(?:!doctype|html|head|body|\?xml|!--)"
SERVER = rb"(?i)(?:[45]\d\d:? )?(?:not found|bad gateway|forbidden|bad request)\s*\Z"
ARRAY = rb'\[\s*(?:[{"\[\]]|-?\d|null\b|true\b|false\b)'
GSCAN_KEY = rb'"(?:type_grammar|percentage_train|examples|grid_size)"\s*:'
VOCABULARY_KEY = rb'\{\s*"sos_token"\s*:'
RECORD_KEY = rb'\{\s*"(?:split|key|source|target|prediction)"\s*:'
REASCAN_KEY = rb'(?i)"type_grammar"\s*:\s*"ReaSCAN|"grammer_pattern"\s*:'
CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1b"))
FEW = 8
"""Maximum control characters of a text; its reader names the line."""


def kind_of(begin: bytes) -> Kind | None:
    """Return the kind of a file that begins with these bytes, `HEAD` of them or all.

    None stands for text of no kind in particular, which may be anything line by line.
    """
    if not begin:
        return EMPTY
    begin = begin[:HEAD]
    for start, signature, kind in SIGNATURES:
        if begin.startswith(signature, start):
            return kind
    if re.match(OLD_PICKLE, begin):
        return PICKLE
    if _is_wide(begin[:64]):
        return UTF_16
    controls = len(begin) - len(begin.translate(None, CONTROL))
    if controls >= FEW and 20 * controls > len(begin):
        return BINARY
    return _text_kind(begin.removeprefix(b"\xef\xbb\xbf").lstrip())


def _is_wide(begin: bytes) -> bool:
    """Whether every second byte is zero, as in UTF-16 without a byte order mark."""
    halves = begin[0::2], begin[1::2]
    zeros = sorted(half.count(0) for half in halves)
    return len(begin) >= FEW and zeros[0] == 0 and 4 * zeros[1] > len(begin)


def _text_kind(begin: bytes) -> Kind | None:
    if re.match(MARKUP, begin):
        return HTML
    if re.match(SERVER, begin):
        return NOT_FOUND
    if begin.startswith(b"IN: ") and b" OUT: " in begin:
        return SCAN_TEXT
    if begin.startswith(b"{"):
        return _object_kind(begin)
    return JSON_ARRAY if re.match(ARRAY, begin) else None


def _object_kind(begin: bytes) -> Kind:
    if re.search(REASCAN_KEY, begin):
        return REASCAN
    if re.match(VOCABULARY_KEY, begin):
        return VOCABULARY
    if re.match(RECORD_KEY, begin):
        return JSON_LINES
    if re.search(GSCAN_KEY, begin[:256]) and b'"agent_position"' not in begin[:256]:
        return GSCAN
    first, _, more = begin.partition(b"\n")
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return JSON
    return JSON_LINES if more.lstrip().startswith(b"{") else JSON


def check_kind(
    begin: bytes, path: Path | str, expected: str, *, reads: Container[str] = ()
) -> None:
    """Refuse a file of a known kind that a reader does not read.

    Args:
        begin: Its first bytes, `HEAD` of them or all.
        path: The file, for the message.
        expected: Noun phrase for the message: "lines `IN: <command> OUT: <actions>`".
        reads: Names of the kinds that the reader reads besides text of no kind.

    Raises:
        WrongFile: it is of another kind.
    """
    kind = kind_of(begin)
    if kind is None or kind.name in reads:
        return
    advice = f"; {kind.advice}" if kind.advice else ""
    noun = "the file is empty" if kind is EMPTY else f"is {kind.noun}"
    raise WrongFile(path, f"{noun}; expected {expected}{advice}")
