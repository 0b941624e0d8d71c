"""Reading of bounded files and atomic writing."""

from __future__ import annotations

import codecs
import contextlib
import errno
import json
import os
import secrets
import stat
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import IO, Any

from daxy.core import interrupts
from daxy.core.errors import RunFailed, WrongFile, WrongRequest
from daxy.core.kinds import HEAD, TEXTS, check_kind

LARGEST = 1 << 30
"""Maximum bytes of a text file: 1 GiB."""
LONGEST = 1 << 24
"""Maximum bytes of a line: 16 MiB."""
PIECE = 1 << 20
"""Bytes per read."""


def usable(path: Path) -> Path:
    """Return a path of a user after checking that the system accepts it.

    Raises:
        WrongFile: the name is too long, or a folder cannot be searched.
    """
    try:
        path.exists()
    except OSError as error:
        raise WrongFile(path, error.strerror or str(error)) from error
    return path


def other_kind(path: Path) -> str:
    """Return the kind of a path that is no regular file, of which reading may never end."""
    if path.is_dir():
        return "a folder"
    return "a pipe or a device" if path.exists() and not path.is_file() else ""


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary sibling, flush it to disk, then rename it to `path`.

    A reader sees the old file or the new one, never a part; a failed write keeps the old one. Links
    are followed. A new file has the mode of the umask, an old one keeps its mode. The file survives
    a power cut after the return.

    Raises:
        RunFailed: the folder cannot be written or the disk is full.
    """
    path = path.resolve() if path.is_symlink() else path
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        _make_folder(path.parent)
        with interrupts.half_written(temporary):
            _replace(path, temporary, write)
        _flush_folder(path.parent)
    except FileExistsError as error:
        raise RunFailed(f"cannot write {path}: {error.filename} is not a folder") from error
    except OSError as error:
        kind = WrongRequest if error.errno == errno.ENAMETOOLONG else RunFailed
        raise kind(f"cannot write {path}: {error.strerror or error}") from error


def _replace(path: Path, temporary: Path, write: Callable[[Path], None]) -> None:
    """Fill the temporary file and rename it; delete it in any case."""
    kept = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    only_new = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    os.close(os.open(temporary, only_new, 0o666 if kept is None else 0o600))
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        if kept is not None:
            temporary.chmod(kept)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    """Make a folder and its parents, and flush them to disk."""
    if folder.is_dir():
        return
    missing = [above for above in (folder, *folder.parents) if not above.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for made in reversed(missing):
        _flush_folder(made.parent)


def _flush_folder(folder: Path) -> None:
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:
        return  # Windows opens no folder, and one may be written and not read.
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES):
            raise
    finally:
        os.close(number)


def lines(path: Path, expected: str | None = None) -> Iterator[bytes]:
    """Yield the lines of a file without their LF; none of an empty file.

    Args:
        path: The file, or a pipe.
        expected: Noun phrase for the expected content of a text file.

    Raises:
        WrongFile: the file is missing, a folder, unreadable, binary in place of text, or has a line
            beyond `LONGEST`.
    """
    with _refusing(path), path.open("rb") as file:
        if expected is not None:
            check_kind(file.peek(HEAD)[:HEAD], path, expected, reads=TEXTS)
        number = 0
        while line := file.readline(LONGEST + 1):
            number += 1
            line = line.removesuffix(b"\n")
            check_length(line, path, number)
            yield line


def check_length(line: bytes, path: Path | str, number: int) -> None:
    """Refuse a line beyond `LONGEST`; see `decoded`."""
    if len(line) > LONGEST:
        problem = f"the line has more than {LONGEST:,} bytes, the most that daxy reads"
        raise WrongFile(path, problem, line=number)


def decoded(line: bytes, path: Path | str, number: int) -> str:
    """Return a line of a file as text.

    Args:
        line: Its bytes.
        path: Name of the file in errors.
        number: Line number, from 1.

    Raises:
        WrongFile: it is not UTF-8, is too long, or begins with a byte order mark.
    """
    check_length(line, path, number)
    if number == 1 and line.startswith(codecs.BOM_UTF8):
        problem = "the file starts with a byte order mark; expected UTF-8 without one"
        raise WrongFile(path, problem, line=1)
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        column = len(line[: error.start].decode()) + 1
        wrong = f"byte 0x{line[error.start]:02x} at column {column} is not UTF-8"
        raise WrongFile(path, f"{wrong}; expected UTF-8 text", line=number) from None


def read_bytes(path: Path, expected: str | None = None, *, most: int = LARGEST) -> bytes:
    """Return the content of a file.

    Args:
        path: The file, or a pipe.
        expected: Noun phrase for the expected content of a text file; None for other files.
        most: Maximum number of bytes.

    Raises:
        WrongFile: the file is missing, a folder, unreadable or longer than `most`; or it is binary
            in place of text, or has a line beyond `LONGEST`.
    """
    with _refusing(path), path.open("rb") as file:
        if expected is not None:
            return b"".join(bounded(file, path, expected, most=most))
        data = file.read(most + 1)
    if len(data) > most:
        raise WrongFile(path, f"has more than {most:,} bytes, the most that daxy reads of it")
    return data


@contextlib.contextmanager
def _refusing(path: Path) -> Generator[None]:
    """Turn errors of the operating system into `WrongFile`."""
    try:
        yield
    except FileNotFoundError:
        raise WrongFile(path, "no such file") from None
    except IsADirectoryError:
        raise WrongFile(path, "is a folder; expected a file") from None
    except OSError as error:
        raise WrongFile(path, f"cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # a path with a null byte
        raise WrongFile(path, f"cannot be read: {error}") from error


def bounded(
    file: IO[bytes], path: Path | str, expected: str, *, most: int = LARGEST
) -> Iterator[bytes]:
    """Yield the pieces of a text file until it or one of its lines is too long.

    Args:
        file: The open file, or a member of an archive, which is unpacked up to the limits.
        path: Name of the file in errors.
        expected: Noun phrase for the expected content.
        most: Maximum number of bytes.

    Raises:
        WrongFile: it is too long, or binary data.
    """
    size = lines = length = 0
    while piece := file.read(PIECE):
        if size == 0:
            check_kind(piece[:HEAD], path, expected, reads=TEXTS)
        size += len(piece)
        first, last = piece.find(b"\n"), piece.rfind(b"\n")
        if length + (len(piece) if first < 0 else first) > LONGEST:
            problem = f"the line has more than {LONGEST:,} bytes; expected {expected}"
            raise WrongFile(path, problem, line=lines + 1)
        if size > most:
            problem = f"has more than {most:,} bytes; at most that many are read"
            raise WrongFile(path, problem)
        lines += piece.count(b"\n")
        length = length + len(piece) if last < 0 else len(piece) - last - 1
        yield piece


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file atomically, with LF line ends."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a binary file atomically."""
    write_atomically(path, lambda temporary: _discard(temporary.write_bytes(data)))


def write_json(path: Path, value: Any) -> None:
    """Write one JSON value atomically, indented, keys in the order given."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _discard(_: object) -> None:
    return None
