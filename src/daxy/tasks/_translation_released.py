"""The released selection of Tatoeba's sentences, of Lake & Baroni and Bastings et al.

It is in pairs of files, `train.src` and `train.trg`, in `data/scan/mt_data` of
github.com/facebookresearch/NACS; files `train.tsv` with the same content are read, too. Train and
test are a draw of Lake & Baroni, with the eight sentences of the new word at the head of the test.
The validation set and the rest of train are by Bastings et al.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from daxy.core.errors import WrongFile
from daxy.core.examples import Examples
from daxy.formats import parallel, tsv
from daxy.tasks._official import NACS_CLONE, SIDES, nacs_path
from daxy.tasks._release import File, find
from daxy.tasks._translation_pairs import Pair

FOLDER = "mt_data"
DIGESTS = {
    "train": "3c57fa1ee5d5b26ade62e7454618567e",
    "train.wo_valid_random": "3fe8c2e65a889ab6d2da00325d08e682",
    "valid.random": "9d84b7020c40084e848185642aa6cb59",
    "test": "2db0f6401f685181e2bd5aca0ade9a8f",
}
"""BLAKE2b (16 bytes) of the lines `<English>`, a tab, `<French>` with LF line ends."""
TSV = {
    "train": "train.tsv",
    "train.wo_valid_random": "train_wo_valid.tsv",
    "valid.random": "valid.tsv",
    "test": "test.tsv",
}
DAXY = 8
"""Lines of the new word at the head of the test."""
SHARE = 102 / 1_000
"""Share of the new word's copies in the released validation set."""


class Selection(NamedTuple):
    """Pairs of the released files."""

    train: list[Pair]
    rest: list[Pair]
    """Train without its validation set."""
    validation: list[Pair]
    test: list[Pair]
    """Without the new word."""


def load(official: Path) -> Selection:
    """Return the released selection.

    Args:
        official: A clone of NACS, a folder in it, or an archive; or a folder of `train.tsv` and its
            siblings, or an archive of it.

    Raises:
        WrongFile: a file is missing, has a wrong line or differs from the released one.
    """
    sides = [f"{_path(name)}{side}" for name in DIGESTS for side in SIDES]
    files = find(official, [*TSV.values(), *sides], NACS_CLONE)
    train, rest, validation, test = (_pairs(official, name, files) for name in DIGESTS)
    return Selection(train, rest, validation, test[DAXY:])


def _path(name: str) -> str:
    return nacs_path(f"{FOLDER}/{name}")


def _pairs(official: Path, name: str, files: Mapping[str, File]) -> list[Pair]:
    sides = [files.get(f"{_path(name)}{side}") for side in SIDES]
    table = files.get(TSV[name])
    if table is not None:
        place, pairs = table.place, tsv.parse(table.content, table.place)
    elif sides[0] is not None and sides[1] is not None:
        (place, sources), (other, targets) = sides[0], sides[1]
        pairs = parallel.parse(sources, targets, (place, other))
    else:
        both = " and ".join(f"{name}{side}" for side in SIDES)
        problem = f"holds no {both} (or {TSV[name]}); expected a clone of {NACS_CLONE}"
        raise WrongFile(official, problem)
    content = tsv.write(Examples.of(pairs)).encode()
    if hashlib.blake2b(content, digest_size=16).hexdigest() != DIGESTS[name]:
        problem = "is not the released file to the letter; expected it, or --pairs for another"
        raise WrongFile(place, problem)
    return pairs
