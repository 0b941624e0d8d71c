"""Cache on disk for columns of numbers, by a key of everything that they depend on.

An entry is one file: a checksum, a line of JSON and the columns, which are mapped into memory.
Damaged entries and write errors are ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import mmap
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import DaxyError
from daxy.core.files import write_atomically

Column = NDArray[Any]

VARIABLE = "DAXY_CACHE"
"""The environment variable that names the folder; an empty value turns the cache off."""
MOST = 4 << 30
"""Maximum bytes of all entries; the least recently read are deleted."""
STALE = 24 * 60 * 60
"""Age in seconds from which an unfinished file belongs to a killed process."""
DIGEST = 32
"""Bytes of the checksum at the start of an entry."""
ALIGNMENT = 64
"""Alignment of columns in bytes."""
SUFFIX = ".columns"
PROGRAMS = ("jit_*-cache", "jit_*-atime")
"""Names of the compiled programs that JAX keeps in the folder."""


def folder() -> Path | None:
    """Return the folder: $DAXY_CACHE, else daxy's in the user's cache; None for no cache."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        return Path(chosen) if chosen else None
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "daxy"
    except RuntimeError:  # a user without a home
        return None


@dataclass(frozen=True)
class Entry:
    """A file of the cache."""

    path: Path
    size: int
    """In bytes."""
    used: float
    """Time of the last access, in seconds since the epoch."""

    @property
    def name(self) -> str:
        """The name given to `write`."""
        return self.path.name.partition(".")[0]


def entries() -> list[Entry]:
    """Return the entries, the most recently read first."""
    return sorted(_files(f"*{SUFFIX}", within="data"), key=lambda each: -each.used)


def programs() -> list[Entry]:
    """Return the compiled programs that JAX keeps in the same folder."""
    return [each for pattern in PROGRAMS for each in _files(pattern)]


def clear() -> None:
    """Delete all entries and compiled programs; other files in the folder stay.

    Raises:
        OSError: a file cannot be deleted.
    """
    for each in (*entries(), *_files(f".*{SUFFIX}.*.tmp", within="data"), *programs()):
        each.path.unlink(missing_ok=True)


def _files(pattern: str, within: str = ".") -> list[Entry]:
    root, files = folder(), list[Entry]()
    for path in root.joinpath(within).glob(pattern) if root else ():
        with contextlib.suppress(OSError):  # deleted meanwhile
            status = path.stat()
            files.append(Entry(path, status.st_size, status.st_mtime))
    return files


def _path(name: str, key: Mapping[str, Any]) -> Path | None:
    place = folder()
    if place is None:
        return None
    text = json.dumps(key, sort_keys=True)
    digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return place / "data" / f"{name}.{digest}{SUFFIX}"


def read(name: str, key: Mapping[str, Any]) -> tuple[Any, list[Column]] | None:
    """Return the facts and the read-only columns of an entry; None where there is none.

    Args:
        name: Name of the content, for people.
        key: Everything that the content depends on, as JSON values.
    """
    path = _path(name, key)
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # absent, unreadable or empty
        return None
    checksum = hashlib.blake2b(memoryview(content)[DIGEST:], digest_size=DIGEST).digest()
    if checksum != content[:DIGEST]:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    content.seek(DIGEST)
    header = json.loads(content.readline())
    return header["facts"], list(_columns(content, header["columns"]))


def _columns(content: mmap.mmap, shapes: Sequence[tuple[str, list[int]]]) -> Iterator[Column]:
    at = _aligned(content.tell())
    for dtype, shape in shapes:
        count = int(np.prod(shape, dtype=np.int64))
        start = at if count else 0
        column = np.frombuffer(content, np.dtype(dtype), count, start).reshape(shape)
        at = _aligned(at + column.nbytes)
        yield column


def write(name: str, key: Mapping[str, Any], facts: Any, columns: Iterable[Column]) -> None:
    """Keep columns, and facts as JSON values, for `read` with the same name and key.

    Two processes may write the same entry: each writes a complete file, and the last one stays.
    """
    path, kept = _path(name, key), list(map(np.ascontiguousarray, columns))
    if path is None or 2 * sum(column.nbytes for column in kept) > MOST:
        return
    with contextlib.suppress(DaxyError):  # the folder is read-only, or the disk is full
        write_atomically(path, lambda temporary: _fill(temporary, facts, kept))
        _prune(path)


def _fill(temporary: Path, facts: Any, columns: Sequence[Column]) -> None:
    shapes = [(column.dtype.str, column.shape) for column in columns]
    header = json.dumps({"facts": facts, "columns": shapes}).encode() + b"\n"
    checksum = hashlib.blake2b(digest_size=DIGEST)
    at = DIGEST
    with temporary.open("wb") as file:
        file.write(bytes(DIGEST))
        for piece in (header, *(column.data.cast("B") for column in columns if column.size)):
            padding = bytes(_aligned(at) - at) if at > DIGEST else b""
            for part in (padding, piece):
                file.write(part)
                checksum.update(part)
                at += len(part)
        file.seek(0)
        file.write(checksum.digest())


def _aligned(at: int) -> int:
    return -(-at // ALIGNMENT) * ALIGNMENT


def _prune(newest: Path) -> None:
    stale = (each for each in _files(f".*{SUFFIX}.*.tmp", within="data"))
    doomed = [each for each in stale if each.used < time.time() - STALE]
    known = entries()
    sizes = itertools.accumulate(each.size for each in known)
    doomed += [each for each, total in zip(known, sizes, strict=True) if total > MOST]
    for each in doomed:
        if each.path != newest:
            with contextlib.suppress(OSError):
                each.path.unlink(missing_ok=True)
