"""Run folders at a place that is not a folder here: any URL that fsspec knows."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daxy.core.errors import DaxyError, RunFailed, WrongRequest
from daxy.core.files import write_bytes
from daxy.core.imports import need
from daxy.runs.folder import CHECKPOINT, RunFolder, check_left

LAST = "done"
"""What says that a run folder is finished: it is written after everything else."""


@dataclass(frozen=True)
class Storage:
    """Where run folders are kept for machines that share no disk."""

    url: str

    @classmethod
    def at(cls, place: str) -> Storage:
        """Return the storage at a URL or folder, which is the same from wherever it is seen."""
        return cls(place if "://" in place else str(Path(place).absolute()))

    def store(self, names: Sequence[str], folder: Path) -> None:
        """Copy what there is of these run folders there, each file whole or not at all.

        A run that is finished there stays as it is: two that were trained apart do not mix. What a
        finished run has no more, its checkpoint, goes away there too. Nothing is there before what
        it needs: a checkpoint comes after the environments of its group, and `done` last.

        Raises:
            RunFailed: the storage cannot be written.
            WrongRequest: nobody knows such a storage.
        """
        with self._opened("write") as (files, root):
            left = [folder / name for name in names if not files.exists(f"{root}/{name}/{LAST}")]
            found = [path for own in left for path in own.rglob("*") if path.is_file()]
            for path in sorted(found, key=_order):
                target = f"{root}/{path.relative_to(folder).as_posix()}"
                files.makedirs(target.rpartition("/")[0], exist_ok=True)
                files.pipe_file(f"{target}.part", path.read_bytes())
                files.mv(f"{target}.part", target)
            for name in names:
                own, there = folder / name, f"{root}/{name}/{CHECKPOINT}"
                if (
                    (own / LAST).exists()
                    and not (own / CHECKPOINT).exists()
                    and files.exists(there)
                ):
                    files.rm(there, recursive=True)

    def fetch(self, names: Sequence[str], folder: Path, *, skip: Sequence[str] = ()) -> None:
        """Copy what there is of these run folders from there, but for what is to be skipped.

        Raises:
            RunFailed: the storage cannot be read.
            WrongRequest: nobody knows such a storage.
        """
        with self._opened("read") as (files, root):
            for name in names:
                found = files.find(f"{root}/{name}") if files.exists(f"{root}/{name}") else []
                for path in sorted(found, key=lambda path: (path.endswith(f"/{LAST}"), path)):
                    inside = path.rpartition(f"{name}/")[2]
                    if not inside.endswith(".part") and inside.partition("/")[0] not in skip:
                        write_bytes(folder / name / inside, files.cat_file(path))

    def check_left(self, names: Sequence[str]) -> None:
        """Refuse to delete these run folders where that loses the state of another run.

        Raises:
            RunFailed: the storage cannot be read.
            WrongRequest: one that is not finished there was interrupted beside them.
        """
        for name in names:
            left = [one for one in self._interrupted_beside(name) if one not in names]
            check_left(f"{self.url}/{name}", left)

    def _interrupted_beside(self, name: str) -> list[str]:
        """Return the runs that are not finished there and whose state lies in this folder."""
        with self._opened("read") as (files, root), tempfile.TemporaryDirectory() as scratch:
            if not files.exists(f"{root}/{name}/{CHECKPOINT}"):
                return []
            self.fetch([name], Path(scratch), skip=(CHECKPOINT,))
            try:
                group = RunFolder(Path(scratch) / name).group
            except RunFailed:
                return []  # what is damaged cannot go on, beside whatever it was
            return [one for one in group if not files.exists(f"{root}/{one}/{LAST}")]

    def delete(self, names: Sequence[str]) -> None:
        """Delete what there is of these run folders there; `check_left` says whether that may be.

        Raises:
            RunFailed: the storage cannot be written.
            WrongRequest: nobody knows such a storage.
        """
        with self._opened("write") as (files, root):
            for name in names:
                if files.exists(f"{root}/{name}"):
                    files.rm(f"{root}/{name}", recursive=True)

    def check(self) -> None:
        """Refuse a storage that is none.

        Raises:
            RunFailed: it cannot be read.
            WrongRequest: nobody knows such a storage.
        """
        with self._opened("read") as (files, root):
            files.exists(root)

    def epochs(self, name: str) -> int:
        """Return how many epochs this run folder's log tells of; -1 if there is no such folder.

        Raises:
            RunFailed: the storage cannot be read.
            WrongRequest: nobody knows such a storage.
        """
        with self._opened("read") as (files, root):
            if not files.exists(f"{root}/{name}"):
                return -1
            log = f"{root}/{name}/log.jsonl"
            return files.cat_file(log).count(b"\n") if files.exists(log) else 0

    @contextmanager
    def _opened(self, doing: str) -> Generator[tuple[Any, str]]:
        """Give the storage and the place in it; say of what goes wrong that it went wrong there."""
        need("fsspec")
        try:
            core: Any = importlib.import_module("fsspec.core")
            files, root = core.url_to_fs(self.url)
        except ImportError as error:
            raise WrongRequest(f"{self.url} needs more than is installed: {error}") from error
        except ValueError as error:
            raise WrongRequest(f"{self.url} is no storage that fsspec knows: {error}") from error
        try:
            yield files, root.rstrip("/")
        except DaxyError:
            raise
        except Exception as error:
            # Every kind of storage has errors of its own, and not all of them are an OSError.
            raise RunFailed(f"cannot {doing} {self.url}: {error}") from error


def _order(path: Path) -> tuple[bool, bool, Path]:
    """Return when a file is written, among those of a group."""
    return path.name == LAST, path.parent.name == CHECKPOINT, path
