"""Inter-process file locks."""

from __future__ import annotations

import errno
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from filelock import FileLock, Timeout

from daxy.core import interrupts
from daxy.core.errors import RunFailed


def lock_file(path: Path) -> Path:
    """Return the hidden lock file of a path; see `exclusive_lock`."""
    return path.parent / f".{path.name}.lock"


@contextmanager
def exclusive_lock(path: Path, busy: str | None = None, patience: float = 0.0) -> Generator[None]:
    """Hold an exclusive lock during the block; a process that ends or is killed releases it.

    The lock is a hidden file next to `path`, deleted afterwards. A file system without locks grants
    it to everybody.

    Args:
        path: A file or folder, which need not exist.
        busy: Error message if another process has the lock; None waits for it.
        patience: Seconds to wait before this error.

    Raises:
        RunFailed: another process has the lock, or the folder cannot be written.
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
        # A waiting process with this file open notices the deletion and makes a new one.
        if lock.is_locked:
            file.unlink(missing_ok=True)
        lock.release()
