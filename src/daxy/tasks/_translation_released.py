"""The selection of Tatoeba's sentences that Lake & Baroni and Bastings et al. trained on.

`train.tsv` and `test.tsv` are the draw of the former, with the eight sentences of the new word at
the head of the test; `valid.tsv` and `train_wo_valid.tsv` that of the latter.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from daxy.core.errors import WrongFile
from daxy.formats import tsv
from daxy.languages import copular
from daxy.tasks import _official
from daxy.tasks._translation_pairs import Pair

SIZES = {"train.tsv": 9_999, "train_wo_valid.tsv": 9_014, "valid.tsv": 985, "test.tsv": 1_191}
"""Lines of the files."""
DAXY = copular.constructions(copular.adjective(("daxy",), "daxiste"))
SHARE = 102 / 1_000
"""The share of the new word's repetitions that is in the released validation set."""


class Selection(NamedTuple):
    """The files that are used."""

    train: list[Pair]
    rest: list[Pair]
    """Train without its validation set."""
    validation: list[Pair]
    test: list[Pair]
    """Without the new word."""


def load(official: Path) -> Selection:
    """Return the released selection.

    Args:
        official: The folder that holds `train.tsv` and its siblings, or an archive of it.

    Raises:
        WrongFile: a file is missing, a line of it is wrong, or it is not the released one.
    """
    train, rest, validation, test = (_pairs(official, name) for name in SIZES)
    if test[: len(DAXY)] != list(DAXY.values()):
        raise WrongFile(_official.place(official, "test.tsv"), "does not begin with daxy's eight")
    if sorted([*rest, *validation]) != sorted(train):
        place = _official.place(official, "valid.tsv")
        raise WrongFile(place, "with train_wo_valid.tsv it is not train.tsv")
    return Selection(train, rest, validation, test[len(DAXY) :])


def _pairs(official: Path, name: str) -> list[Pair]:
    place = _official.place(official, name)
    found = tsv.parse(_official.content(official, name), place)
    if len(found) != SIZES[name]:
        raise WrongFile(place, f"{len(found):,} lines; expected {SIZES[name]:,}")
    return found
