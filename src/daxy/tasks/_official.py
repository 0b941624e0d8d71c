"""Official files in place of generated data, from the folder as published or a .tar.xz."""

from __future__ import annotations

import lzma
import tarfile
from pathlib import Path

import numpy as np

from daxy.core.errors import WrongFile
from daxy.core.files import read_bytes
from daxy.formats import scan_text
from daxy.languages import scan
from daxy.tasks._rules import Added, HoldOut, Partition, Rows, Rule, select, words


def load(official: Path, stem: str, rule: Rule) -> Partition:
    """Return the partition that two official files hold, in their order.

    Args:
        official: The folder that holds `simple_split/` and its siblings, or an archive of it.
        stem: Path of the files in it, with `{part}` for train or test.
        rule: What the files are said to hold.

    Raises:
        WrongFile: a file is missing or wrong, a line disagrees with the grammar, or the commands
            are not those of the rule; a draw has to have the published sizes, and so has a train
            file in which a command stands more than once.
    """
    names = [stem.format(part=part) for part in ("train", "test")]
    train, test = (rows(official, name) for name in names)
    for name, problem in zip(names, _disagreements(rule, train, test), strict=True):
        if problem:
            raise WrongFile(place(official, name), problem)
    return Partition(train, test)


def _disagreements(rule: Rule, train: Rows, test: Rows) -> tuple[str, str]:
    """Return what is wrong with the commands of each file, empty where nothing is."""
    sizes = rule.sizes
    if len(np.unique(test)) != len(test):
        return "", "a command stands twice in this test file"
    if common := len(np.intersect1d(train, test)):
        return "", f"{common:,} of the commands are also in the train file"
    match rule:
        case HoldOut():
            known, asked = rule.parts()
        case Added():
            known, asked = rule.base.parts()
            added = np.intersect1d(np.setdiff1d(train, known), select(rule.pool))
            least = rule.least_published or rule.count
            if not least <= len(added) <= rule.count:
                expected = f"{rule.count}" if least == rule.count else f"{least} to {rule.count}"
                return f"{len(added)} commands were added; expected {expected}", ""
            known, asked = np.union1d(known, added), np.setdiff1d(asked, added)
        case _:
            return _miscount(len(train), sizes.train), _miscount(len(test), sizes.test)
    repeated = "" if len(train) == len(known) else _miscount(len(train), sizes.train)
    return _difference(train, known) or repeated, _difference(test, asked)


def _miscount(count: int, expected: int) -> str:
    return "" if count == expected else f"{count:,} lines; expected {expected:,}"


def _difference(found: Rows, expected: Rows) -> str:
    for rows, what in (
        (np.setdiff1d(found, expected), "do not belong to this part"),
        (np.setdiff1d(expected, found), "of this part are missing"),
    ):
        if len(rows):
            return f"{len(rows):,} commands {what}, such as '{' '.join(words()[rows[0]])}'"
    return ""


def rows(official: Path, name: str) -> Rows:
    """Return the positions of a file's commands in the canonical order of all commands."""
    called, data = place(official, name), content(official, name)
    position = {command: row for row, command in enumerate(scan.meanings())}
    found: list[int] = []
    for line, (command, actions) in enumerate(scan_text.parse(data, called), start=1):
        given = tuple(map(scan.official_spelling, actions))
        if problem := scan.disagreement(command, given):
            raise WrongFile(called, problem, line=line)
        found.append(position[command])
    return np.array(found, np.int64)


def place(official: Path, name: str) -> str:
    """Return what to call a file in errors."""
    return f"{official / name}" if official.is_dir() else f"{official}:{name}"


def content(official: Path, name: str) -> bytes:
    """Return what is in an official file.

    Raises:
        WrongFile: there is no such file, or it cannot be read.
    """
    if official.is_dir():
        return read_bytes(official / name)
    if official.suffixes[-2:] != [".tar", ".xz"]:
        problem = "is no folder and no .tar.xz; expected the official files as published"
        raise WrongFile(official, problem if official.exists() else "no such file or folder")
    return _member(official, name)


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
