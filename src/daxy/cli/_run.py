"""Folders of runs that a verb is given."""

from __future__ import annotations

from pathlib import Path

from daxy.core.errors import require


def check_there(path: Path) -> None:
    """Refuse the folder of a run that is none.

    Raises:
        WrongRequest: so it is.
    """
    require(not path.is_file(), f"{path} is a file; expected the folder of a run")
    require(path.is_dir(), f"{path}: no such folder")
