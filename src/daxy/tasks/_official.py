"""Official files of SCAN, from clones of the authors' repositories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from daxy.core.errors import WrongFile
from daxy.core.examples import Tokens
from daxy.formats import parallel, scan_text
from daxy.languages import scan
from daxy.tasks._release import File, find
from daxy.tasks._rules import Added, HoldOut, Partition, Rows, Rule, select, words

SCAN_CLONE = "github.com/brendenlake/SCAN"
NACS_CLONE = "github.com/facebookresearch/NACS"
NACS_FOLDER = "data/scan"
"""Folder of its sets."""
SIDES = (".src", ".trg")


@dataclass(frozen=True, kw_only=True)
class ReleasedValidation:
    """A released validation set and the training set that goes with it."""

    train: str
    validation: str
    """Names of the files in `data/scan`, without suffixes."""
    sizes: tuple[int, int]
    """Lines of train and validation."""


@dataclass(frozen=True, kw_only=True)
class NacsFiles:
    """Files of Bastings et al. (2018) for a task, by their names in `data/scan`.

    Each is a file in SCAN's text format, or a pair of files `.src` and `.trg`.
    """

    train: str
    test: str
    validation: Mapping[str, ReleasedValidation] = field(
        default_factory=dict[str, ReleasedValidation]
    )
    """Validation sets by the value of `--validation`."""


def load(official: Path, stem: str | None, nacs: NacsFiles | None, rule: Rule) -> Partition:
    """Return the partition of two official files, in their order.

    Args:
        official: A clone of SCAN or NACS, a folder in it, or an archive.
        stem: Path of SCAN's files, with `{part}` for train or test; None without files.
        nacs: The files of NACS; None without files.
        rule: The rule that the files have to follow.

    Raises:
        WrongFile: a file is missing or wrong, a line disagrees with the grammar, or the commands
            disagree with the rule or, for draws and repeated commands, with the published sizes.
    """
    pairs = [] if stem is None else [tuple(stem.format(part=part) for part in ("train", "test"))]
    pairs += [] if nacs is None else [(nacs_path(nacs.train), nacs_path(nacs.test))]
    clones = [SCAN_CLONE] * (stem is not None) + [NACS_CLONE] * (nacs is not None)
    files = load_commands(
        official, [name for pair in pairs for name in pair], " or ".join(clones), scan.SCAN
    )
    names = next((pair for pair in pairs if any(name in files for name in pair)), None)
    if names is None:
        wanted = ", nor ".join(pair[0] for pair in pairs)
        raise WrongFile(official, f"holds no {wanted}; expected a clone of {' or '.join(clones)}")
    check_present(official, names, files)
    train, test = (rows_of(files[name]) for name in names)
    for name, problem in zip(names, disagreements(rule, train, test), strict=True):
        if problem:
            raise WrongFile(files[name].place, problem)
    return Partition(train, test)


@dataclass(frozen=True)
class Commands:
    """Commands of an official file, whose actions are right."""

    place: str
    """Name of the file in errors."""
    commands: Sequence[Tokens]


def nacs_path(name: str) -> str:
    """Return the path of a set in NACS's repository."""
    return f"{NACS_FOLDER}/{name}"


def load_commands(
    official: Path, names: Sequence[str], repository: str, grammar: scan.Grammar
) -> dict[str, Commands]:
    """Return the commands of the existing ones of some files, by their paths in a repository.

    Raises:
        WrongFile: a file cannot be read, or a line disagrees with the grammar.
    """
    sides = [f"{name}{side}" for name in names for side in SIDES]
    files = find(official, [*names, *sides], repository)
    commands = {name: _read(files, name, grammar) for name in names}
    return {name: each for name, each in commands.items() if each is not None}


def _read(files: Mapping[str, File], name: str, grammar: scan.Grammar) -> Commands | None:
    if name in files:
        place, content = files[name]
        return _checked(place, place, scan_text.parse(content, place), grammar)
    if all(f"{name}{side}" in files for side in SIDES):
        sources, targets = (files[f"{name}{side}"] for side in SIDES)
        places = sources.place, targets.place
        pairs = parallel.parse(sources.content, targets.content, places)
        return _checked(sources.place, targets.place, pairs, grammar)
    return None


def _checked(
    place: str, blamed: str, pairs: Sequence[tuple[Tokens, Tokens]], grammar: scan.Grammar
) -> Commands:
    for line, (command, actions) in enumerate(pairs, start=1):
        given = tuple(map(scan.official_spelling, actions))
        if problem := scan.disagreement(command, given, grammar):
            raise WrongFile(blamed, problem, line=line)
    return Commands(place, [command for command, _ in pairs])


def check_present(official: Path, names: Sequence[str], files: Mapping[str, Commands]) -> None:
    """Refuse a release without one of the files."""
    for name in names:
        if name not in files:
            raise WrongFile(official, f"holds no {name}")


def rows_of(file: Commands) -> Rows:
    """Return the rows of a file's commands, without `dab`, in the canonical order."""
    position = {command: row for row, command in enumerate(scan.meanings())}
    return np.array([position[command] for command in file.commands], np.int64)


def disagreements(rule: Rule, train: Rows, test: Rows) -> tuple[str, str]:
    """Return the errors of the train and the test file; empty for none."""
    sizes = rule.released or rule.sizes if isinstance(rule, Added) else rule.sizes
    if len(np.unique(test)) != len(test):
        return "", "a command stands twice in this test file"
    if common := len(np.intersect1d(train, test)):
        return "", f"{common:,} of the commands are also in the train file"
    match rule:
        case HoldOut():
            learned, tested = rule.parts()
        case Added():
            learned, tested = rule.base.parts()
            added = np.intersect1d(np.setdiff1d(train, learned), select(rule.pool))
            least = rule.least_published or rule.count
            if not least <= len(added) <= rule.count:
                expected = f"{rule.count}" if least == rule.count else f"{least} to {rule.count}"
                return f"{len(added)} commands were added; expected {expected}", ""
            learned, tested = np.union1d(learned, added), np.setdiff1d(tested, added)
            reserved, withheld = np.setdiff1d(tested, test), (rule.reserve or 0) - len(added)
            if rule.reserve and len(reserved) != withheld:
                problem = f"{len(reserved)} of the commands that this part may have are missing"
                return "", f"{problem}; expected {withheld}"
            tested = np.setdiff1d(tested, reserved) if rule.reserve else tested
        case _:
            return _miscount(len(train), sizes.train), _miscount(len(test), sizes.test)
    repeated = "" if len(train) == len(learned) else _miscount(len(train), sizes.train)
    return _difference(train, learned) or repeated, _difference(test, tested)


def _miscount(count: int, expected: int) -> str:
    return "" if count == expected else f"{count:,} lines; expected {expected:,}"


def _difference(actual: Rows, expected: Rows) -> str:
    for rows, what in (
        (np.setdiff1d(actual, expected), "do not belong to this part"),
        (np.setdiff1d(expected, actual), "of this part are missing"),
    ):
        if len(rows):
            return f"{len(rows):,} commands {what}, such as '{' '.join(words()[rows[0]])}'"
    return ""
