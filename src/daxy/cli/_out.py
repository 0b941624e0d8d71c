"""Files that a verb writes: what is there is not replaced by mistake."""

from __future__ import annotations

from pathlib import Path

from daxy.core.errors import require


def check_free(path: Path, *, force: bool) -> None:
    """Refuse a place where no file can be written, or where one is already and is not to go.

    Raises:
        WrongRequest: so it is.
    """
    require(str(path) != "-", "- is no file; expected a name")
    require(not path.is_dir(), f"{path} is a folder; expected a file to write")
    special = path.exists() and not path.is_file()
    require(not special, f"{path} is a device or a pipe; expected a file to write")
    require(force or not path.exists(), f"{path} exists; --force replaces it")
