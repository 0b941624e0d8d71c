"""Kinds of split of the authors' gSCAN generator, and recognition of a file's kind.

`generalization` holds out tests B to H. `target_lengths` holds out long action sequences, in the
part `target_lengths` of the released file and in `test` of the current generator. `uniform` is a
random split.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from daxy.tasks._gscan_examples import Demonstrations
from daxy.tasks._gscan_predicates import HELD_OUT, Flags

Kind = Literal["generalization", "target_lengths", "uniform"]

TRAIN, VALIDATION, RANDOM, LONG = "train", "dev", "test", "target_lengths"
"""Official names of the parts that no predicate defines."""
LEARNED = (TRAIN, VALIDATION)
TOLERATED = 0.05
"""Share of examples in a wrong part up to which a file is of a kind."""
CHANCE = 1_000
"""Lengths are evidence if a draw puts the longest examples in test less than once in so many."""
WORDS: Mapping[Kind, str] = {
    "generalization": "a `generalization` split: tests hold out combinations",
    "target_lengths": "a `target_lengths` split: the longest action sequences are held out",
    "uniform": "a `uniform` split: nothing is held out",
}


class SplitKind(NamedTuple):
    """Recognised kind of split of a file."""

    kind: Kind
    long: str = ""
    """Part with the long action sequences, for `target_lengths`."""
    threshold: int = 0
    """Number of actions above which a sequence is long."""

    def __str__(self) -> str:
        where = f" in {self.long!r}, with more than {self.threshold} actions" * bool(self.long)
        return f"{WORDS[self.kind]}{where}"


def kind_of(
    tables: Mapping[str, Demonstrations],
    flags: Mapping[str, Flags],
    header: Mapping[str, Any],
) -> SplitKind:
    """Return the kind of split of a file.

    Args:
        tables: Its examples by official names of parts.
        flags: Tests of `generalization` that select each example: [count, tests], by part.
        header: Its header.
    """
    if len(tables.get(LONG, ())):
        return SplitKind("target_lengths", LONG, _threshold(tables, LONG)[0])
    known = [name for name in (*LEARNED, RANDOM) if len(tables.get(name, ()))]
    wrong = sum(int(flags[name].any(axis=1).sum()) for name in known)
    count = sum(len(tables[name]) for name in known)
    if any(len(tables.get(name, ())) for name in HELD_OUT) or wrong <= TOLERATED * count:
        return SplitKind("generalization")
    if RANDOM in known and known != [RANDOM]:
        threshold, wrong = _threshold(tables, RANDOM)
        if wrong <= TOLERATED * count and not _is_draw(tables, header):
            return SplitKind("target_lengths", RANDOM, threshold)
    return SplitKind("uniform")


def _is_draw(tables: Mapping[str, Demonstrations], header: Mapping[str, Any]) -> bool:
    """Whether a random split of few examples may put the longest in test by chance."""
    tested = len(tables[RANDOM])
    count = tested + sum(len(tables.get(name, ())) for name in LEARNED)
    if math.comb(count, tested) > CHANCE:
        return False
    share = header.get("percentage_train", 0.9)
    return tested == count - round(share * count)


def _threshold(tables: Mapping[str, Demonstrations], long: str) -> tuple[int, int]:
    """Return the length that best separates the long part from the others, and its errors.

    No file states it.
    """
    above = tables[long].actions.lengths
    rest = [each.actions.lengths for name, each in tables.items() if name != long]
    below = np.concatenate([np.zeros(0, np.int64), *rest])
    candidates = np.unique(np.concatenate([above - 1, below]))
    wrong = [int((above <= each).sum() + (below > each).sum()) for each in candidates]
    best = int(np.argmin(wrong))
    return int(candidates[best]), wrong[best]
