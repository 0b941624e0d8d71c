"""SCAN's official files in place of generated data, from the folder as published or a .tar.xz."""

from __future__ import annotations

import lzma
import tarfile
from pathlib import Path

import numpy as np

from daxy.core.errors import WrongFile
from daxy.core.files import read_bytes
from daxy.formats import scan_text
from daxy.languages import scan
from daxy.tasks._rules import Partition, Rows


def load(official: Path, stem: str) -> Partition:
    """Return the partition that two official files hold, in their order.

    Args:
        official: The folder that holds `simple_split/` and its siblings, or an archive of it.
        stem: Path of the files in it, with `{part}` for train or test.

    Raises:
        WrongFile: a file is missing or wrong, or a line disagrees with the grammar.
    """
    train, test = (rows(official, stem.format(part=part)) for part in ("train", "test"))
    return Partition(train, test)


def rows(official: Path, name: str) -> Rows:
    """Return the positions of a file's commands in the canonical order of all commands."""
    place, data = _content(official, name)
    position = {command: row for row, command in enumerate(scan.meanings())}
    found: list[int] = []
    for line, (command, actions) in enumerate(scan_text.parse(data, place), start=1):
        given = tuple(map(scan.official_spelling, actions))
        if problem := scan.disagreement(command, given):
            raise WrongFile(place, problem, line=line)
        found.append(position[command])
    return np.array(found, np.int64)


def _content(official: Path, name: str) -> tuple[str, bytes]:
    """Return what to call a file in errors, and its content."""
    if official.is_dir():
        return f"{official / name}", read_bytes(official / name)
    if official.suffixes[-2:] != [".tar", ".xz"]:
        problem = "is no folder and no .tar.xz; expected SCAN's official files as published"
        raise WrongFile(official, problem if official.exists() else "no such file or folder")
    return f"{official}:{name}", _member(official, name)


def _member(archive: Path, name: str) -> bytes:
    """Return a file of the archive, which may keep its files below one more folder."""
    try:
        with tarfile.open(archive, "r:xz") as members:
            for member in members:
                if member.isfile() and f"/{member.name}".endswith(f"/{name}"):
                    content = members.extractfile(member)
                    assert content is not None
                    return content.read()
    except FileNotFoundError:
        raise WrongFile(archive, "no such file or folder") from None
    except (OSError, EOFError, lzma.LZMAError, tarfile.TarError) as error:
        raise WrongFile(archive, f"cannot be read as a .tar.xz: {error}") from error
    raise WrongFile(archive, f"holds no {name}")
