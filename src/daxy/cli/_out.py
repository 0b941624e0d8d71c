"""Checks of output files: none is replaced by mistake."""

from __future__ import annotations

from pathlib import Path

from daxy.core.errors import require


def check_free(path: Path, *, force: bool) -> None:
    """Refuse an output path that is no file, or a file that exists unless `force` replaces it.

    Raises:
        WrongRequest: says which.
    """
    require(str(path) != "-", "- is no file; expected a name")
    require(not path.is_dir(), f"{path} is a folder; expected a file to write")
    special = path.exists() and not path.is_file()
    require(not special, f"{path} is a device or a pipe; expected a file to write")
    require(force or not path.exists(), f"{path} exists; --force replaces it")
