"""Remote storage of run folders, at any URL that fsspec supports."""

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
"""Marker of a finished run folder, written last."""


@dataclass(frozen=True)
class Storage:
    """Storage of run folders for machines without a shared disk."""

    url: str

    @classmethod
    def at(cls, place: str) -> Storage:
        """Return the storage at a URL or folder; a relative path becomes absolute."""
        return cls(place if "://" in place else str(Path(place).absolute()))

    def store(self, names: Sequence[str], folder: Path) -> None:
        """Upload these run folders; each file is replaced atomically.

        A run that is finished in the storage stays as it is, so that two trainings do not mix. The
        checkpoint of a finished run is deleted. A checkpoint is written after the environments of
        its group, and `done` last.

        Raises:
            RunFailed: the storage cannot be written.
            WrongRequest: fsspec does not support the URL.
        """
        with self._opened("write") as (files, root):
            left = [folder / name for name in names if not files.exists(f"{root}/{name}/{LAST}")]
            paths = [path for run in left for path in run.rglob("*") if path.is_file()]
            for path in sorted(paths, key=_upload_order):
                target = f"{root}/{path.relative_to(folder).as_posix()}"
                files.makedirs(target.rpartition("/")[0], exist_ok=True)
                files.pipe_file(f"{target}.part", path.read_bytes())
                files.mv(f"{target}.part", target)
            for name in names:
                run, checkpoint = folder / name, f"{root}/{name}/{CHECKPOINT}"
                is_finished = (run / LAST).exists() and not (run / CHECKPOINT).exists()
                if is_finished and files.exists(checkpoint):
                    files.rm(checkpoint, recursive=True)

    def fetch(self, names: Sequence[str], folder: Path, *, skip: Sequence[str] = ()) -> None:
        """Download these run folders, without the entries in `skip`.

        Raises:
            RunFailed: the storage cannot be read.
            WrongRequest: fsspec does not support the URL.
        """
        with self._opened("read") as (files, root):
            for name in names:
                paths = files.find(f"{root}/{name}") if files.exists(f"{root}/{name}") else []
                for path in sorted(paths, key=lambda path: (path.endswith(f"/{LAST}"), path)):
                    inside = path.rpartition(f"{name}/")[2]
                    if not inside.endswith(".part") and inside.partition("/")[0] not in skip:
                        write_bytes(folder / name / inside, files.cat_file(path))

    def check_left(self, names: Sequence[str]) -> None:
        """Check that deleting these run folders keeps the state of all other runs.

        Raises:
            RunFailed: the storage cannot be read.
            WrongRequest: the state of another unfinished run would be deleted.
        """
        for name in names:
            left = [one for one in self._state_owners(name) if one not in names]
            check_left(f"{self.url}/{name}", left)

    def _state_owners(self, name: str) -> list[str]:
        """Return the unfinished runs whose state is in this run folder."""
        with self._opened("read") as (files, root), tempfile.TemporaryDirectory() as scratch:
            if not files.exists(f"{root}/{name}/{CHECKPOINT}"):
                return []
            self.fetch([name], Path(scratch), skip=(CHECKPOINT,))
            try:
                group = RunFolder(Path(scratch) / name).group
            except RunFailed:
                return []  # A damaged state cannot be resumed.
            return [one for one in group if not files.exists(f"{root}/{one}/{LAST}")]

    def delete(self, names: Sequence[str]) -> None:
        """Delete these run folders from the storage; call `check_left` first.

        Raises:
            RunFailed: the storage cannot be written.
            WrongRequest: fsspec does not support the URL.
        """
        with self._opened("write") as (files, root):
            for name in names:
                if files.exists(f"{root}/{name}"):
                    files.rm(f"{root}/{name}", recursive=True)

    def check(self) -> None:
        """Check that the storage can be read.

        Raises:
            RunFailed: it cannot.
            WrongRequest: fsspec does not support the URL.
        """
        with self._opened("read") as (files, root):
            files.exists(root)

    def epochs(self, name: str) -> int:
        """Return the number of epochs in a run folder's log; -1 without a folder.

        Raises:
            RunFailed: the storage cannot be read.
            WrongRequest: fsspec does not support the URL.
        """
        with self._opened("read") as (files, root):
            if not files.exists(f"{root}/{name}"):
                return -1
            log = f"{root}/{name}/log.jsonl"
            return files.cat_file(log).count(b"\n") if files.exists(log) else 0

    @contextmanager
    def _opened(self, doing: str) -> Generator[tuple[Any, str]]:
        """Open the file system and the path in it; wrap its errors."""
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
            # File systems raise their own exceptions, which need not be an OSError.
            raise RunFailed(f"cannot {doing} {self.url}: {error}") from error


def _upload_order(path: Path) -> tuple[bool, bool, Path]:
    """Return the sort key of a group's files: checkpoints late, `done` last."""
    return path.name == LAST, path.parent.name == CHECKPOINT, path
