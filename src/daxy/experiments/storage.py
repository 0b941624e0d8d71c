"""Run folders at a place that is not a folder here: any URL that fsspec knows."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daxy.core.errors import RunFailed, WrongRequest
from daxy.core.files import write_bytes

LAST = "done"
"""What says that a run folder is finished: it is written after everything else."""


@dataclass(frozen=True)
class Storage:
    """Where run folders are kept for machines that share no disk."""

    url: str

    def store(self, names: Sequence[str], folder: Path) -> None:
        """Copy what there is of these run folders there; files of before stay if there are no new.

        Raises:
            RunFailed: the storage cannot be written.
        """
        files, root = self._opened()
        try:
            for name in names:
                found = [path for path in (folder / name).rglob("*") if path.is_file()]
                for path in sorted(found, key=lambda path: (path.name == LAST, path)):
                    target = f"{root}/{path.relative_to(folder).as_posix()}"
                    files.makedirs(target.rpartition("/")[0], exist_ok=True)
                    files.pipe_file(target, path.read_bytes())
        except OSError as error:
            raise RunFailed(f"cannot write {self.url}: {error}") from error

    def fetch(self, names: Sequence[str], folder: Path) -> None:
        """Copy what there is of these run folders from there.

        Raises:
            RunFailed: the storage cannot be read.
        """
        files, root = self._opened()
        try:
            for name in names:
                found = files.find(f"{root}/{name}") if files.exists(f"{root}/{name}") else []
                for path in sorted(found, key=lambda path: (path.endswith(f"/{LAST}"), path)):
                    inside = path.rpartition(f"{name}/")[2]
                    write_bytes(folder / name / inside, files.cat_file(path))
        except OSError as error:
            raise RunFailed(f"cannot read {self.url}: {error}") from error

    def _opened(self) -> tuple[Any, str]:
        try:
            core: Any = importlib.import_module("fsspec.core")
            files, root = core.url_to_fs(self.url)
        except ImportError as error:
            raise WrongRequest(f"{self.url} needs more than is installed: {error}") from error
        except ValueError as error:
            raise WrongRequest(f"{self.url} is no storage that fsspec knows: {error}") from error
        return files, root.rstrip("/")
