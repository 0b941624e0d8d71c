"""The selection of Tatoeba's sentences that Lake & Baroni and Bastings et al. trained on.

`train.tsv` and `test.tsv` are the draw of the former, with the eight sentences of the new word at
the head of the test; `valid.tsv` and `train_wo_valid.tsv` that of the latter.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from daxy.core.errors import WrongFile
from daxy.formats import tsv
from daxy.tasks import _official
from daxy.tasks._translation_pairs import Pair

DIGESTS = {
    "train.tsv": "3c57fa1ee5d5b26ade62e7454618567e",
    "train_wo_valid.tsv": "3fe8c2e65a889ab6d2da00325d08e682",
    "valid.tsv": "9d84b7020c40084e848185642aa6cb59",
    "test.tsv": "2db0f6401f685181e2bd5aca0ade9a8f",
}
"""Of the content of the files."""
DAXY = 8
"""Lines at the head of the test that are the new word's."""
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
    train, rest, validation, test = (_pairs(official, name) for name in DIGESTS)
    return Selection(train, rest, validation, test[DAXY:])


def _pairs(official: Path, name: str) -> list[Pair]:
    place = _official.place(official, name)
    content = _official.content(official, name)
    found = tsv.parse(content, place)
    if hashlib.blake2b(content, digest_size=16).hexdigest() != DIGESTS[name]:
        problem = "is not the released file to the letter; expected it, or --pairs for another"
        raise WrongFile(place, problem)
    return found
