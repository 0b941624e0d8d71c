"""Official files of SCAN in place of generated data, from a clone of an authors' repository."""

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
"""Where that repository has its sets."""
SIDES = (".src", ".trg")


@dataclass(frozen=True, kw_only=True)
class Held:
    """A released validation set and the training set that goes with it."""

    train: str
    validation: str
    """Names of the files in `data/scan`, without `.src` and `.trg`."""
    sizes: tuple[int, int]
    """Lines of the two."""


@dataclass(frozen=True, kw_only=True)
class NacsFiles:
    """The files that Bastings et al. (2018) released for a task, by their names in `data/scan`.

    Each is a text file in SCAN's format, or a pair of files `.src` and `.trg`.
    """

    train: str
    test: str
    validation: Mapping[str, Held] = field(default_factory=dict[str, Held])
    """The validation sets by the choice of `--validation`."""


def load(official: Path, stem: str | None, nacs: NacsFiles | None, rule: Rule) -> Partition:
    """Return the partition that two official files hold, in their order.

    Args:
        official: A clone of SCAN or NACS, a folder in it, or an archive.
        stem: Path of SCAN's files, with `{part}` for train or test; None where it has none.
        nacs: The files of NACS; None where it has none.
        rule: What the files are said to hold.

    Raises:
        WrongFile: a file is missing or wrong, a line disagrees with the grammar, or the commands
            are not those of the rule; a draw has to have the published sizes, and so has a train
            file in which a command stands more than once.
    """
    pairs = [] if stem is None else [tuple(stem.format(part=part) for part in ("train", "test"))]
    pairs += [] if nacs is None else [(nacs_path(nacs.train), nacs_path(nacs.test))]
    clones = [SCAN_CLONE] * (stem is not None) + [NACS_CLONE] * (nacs is not None)
    files = loaded(
        official, [name for pair in pairs for name in pair], " or ".join(clones), scan.SCAN
    )
    names = next((pair for pair in pairs if any(name in files for name in pair)), None)
    if names is None:
        wanted = ", nor ".join(pair[0] for pair in pairs)
        raise WrongFile(official, f"holds no {wanted}; expected a clone of {' or '.join(clones)}")
    check_present(official, names, files)
    train, test = (positions(files[name]) for name in names)
    for name, problem in zip(names, disagreements(rule, train, test), strict=True):
        if problem:
            raise WrongFile(files[name].place, problem)
    return Partition(train, test)


@dataclass(frozen=True)
class Commands:
    """The commands of an official file, each of which has the actions that it means."""

    place: str
    """What errors call the file."""
    commands: Sequence[Tokens]


def nacs_path(name: str) -> str:
    """Return the path of a set in NACS's repository."""
    return f"{NACS_FOLDER}/{name}"


def loaded(
    official: Path, names: Sequence[str], repository: str, grammar: scan.Grammar
) -> dict[str, Commands]:
    """Return the commands of files by their paths in a repository, of those that are there.

    Raises:
        WrongFile: a file cannot be read, or a line of it disagrees with the grammar.
    """
    sides = [f"{name}{side}" for name in names for side in SIDES]
    found = find(official, [*names, *sides], repository)
    files = {name: _read(found, name, grammar) for name in names}
    return {name: file for name, file in files.items() if file is not None}


def _read(found: Mapping[str, File], name: str, grammar: scan.Grammar) -> Commands | None:
    if name in found:
        place, content = found[name]
        return _checked(place, place, scan_text.parse(content, place), grammar)
    if all(f"{name}{side}" in found for side in SIDES):
        sources, targets = (found[f"{name}{side}"] for side in SIDES)
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
    """Refuse a release that lacks a file."""
    for name in names:
        if name not in files:
            raise WrongFile(official, f"holds no {name}")


def positions(file: Commands) -> Rows:
    """Return where the commands of a file, without `dab`, are in the order of all commands."""
    position = {command: row for row, command in enumerate(scan.meanings())}
    return np.array([position[command] for command in file.commands], np.int64)


def disagreements(rule: Rule, train: Rows, test: Rows) -> tuple[str, str]:
    """Return what is wrong with the commands of each file, empty where nothing is."""
    sizes = rule.released or rule.sizes if isinstance(rule, Added) else rule.sizes
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
            reserved, withheld = np.setdiff1d(asked, test), (rule.reserve or 0) - len(added)
            if rule.reserve and len(reserved) != withheld:
                problem = f"{len(reserved)} of the commands that this part may have are missing"
                return "", f"{problem}; expected {withheld}"
            asked = np.setdiff1d(asked, reserved) if rule.reserve else asked
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
