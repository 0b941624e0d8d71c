"""Files that are either complete or absent."""

from __future__ import annotations

import codecs
import errno
import json
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from daxy.core import interrupts
from daxy.core.errors import RunFailed, WrongFile


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary sibling, flush it to disk, then rename it to `path`.

    A reader sees the old file or the new one, never a part; a failed write leaves the old one. A
    link stays, and what it leads to is written. Who may read a new file is as the umask says, and
    an old one keeps its mode. After a power cut too the file is there once this has returned.

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
        raise RunFailed(f"cannot write {path}: {error.strerror or error}") from error


def _replace(path: Path, temporary: Path, write: Callable[[Path], None]) -> None:
    """Fill the temporary file and rename it; it is gone afterwards, whatever happens."""
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
    """Make a folder and those above it, and flush to disk that they are there."""
    if folder.is_dir():
        return
    missing = [above for above in (folder, *folder.parents) if not above.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for made in reversed(missing):
        _flush_folder(made.parent)


def _flush_folder(folder: Path) -> None:
    """Flush the names in a folder to disk, where the system lets folders be flushed."""
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


def decoded(line: bytes, path: Path | str, number: int) -> str:
    """Return a line of a file as text.

    Args:
        line: Its bytes.
        path: What errors call the file.
        number: Which line it is, from 1.

    Raises:
        WrongFile: it is not UTF-8, or begins with a byte order mark.
    """
    if number == 1 and line.startswith(codecs.BOM_UTF8):
        problem = "the file starts with a byte order mark; expected UTF-8 without one"
        raise WrongFile(path, problem, line=1)
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{line[error.start]:02x} at column {error.start + 1} is not UTF-8"
        raise WrongFile(path, f"{wrong}; expected UTF-8 text", line=number) from None


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        WrongFile: it is missing, a folder, or cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise WrongFile(path, "no such file") from None
    except IsADirectoryError:
        raise WrongFile(path, "is a folder; expected a file") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise WrongFile(path, f"cannot be read: {reason}") from error


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
