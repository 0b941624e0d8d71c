"""One process at a time, on whatever machine: what several could write is written by one."""

from __future__ import annotations

import errno
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from filelock import FileLock, Timeout

from daxy.core import interrupts
from daxy.core.errors import RunFailed


def lock_file(path: Path) -> Path:
    """Return the hidden file that other processes meet while one is in; see `exclusive_lock`."""
    return path.parent / f".{path.name}.lock"


@contextmanager
def exclusive_lock(path: Path, busy: str | None = None, patience: float = 0.0) -> Generator[None]:
    """Let no other process in while the block runs; a process that ends, or is killed, has left.

    What other processes meet is a hidden file beside `path`, which is gone afterwards. A file
    system that knows no locks lets everybody in.

    Args:
        path: A file or folder, there or not.
        busy: What to say if another process is in; None waits until it has left.
        patience: Seconds to wait for that before it is said.

    Raises:
        RunFailed: another process is in, or the folder cannot be written.
    """
    file = lock_file(path)
    lock = FileLock(file, timeout=-1 if busy is None else patience, fallback_to_soft=False)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise RunFailed(busy or "") from None
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK):
            raise RunFailed(f"cannot write {file}: {error.strerror or error}") from error
    try:
        with interrupts.half_written(file) if lock.is_locked else nullcontext():
            yield
    finally:
        # Whoever waits with this file open sees that it is gone, and makes a new one.
        if lock.is_locked:
            file.unlink(missing_ok=True)
        lock.release()
