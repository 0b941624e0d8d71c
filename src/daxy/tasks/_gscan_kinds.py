"""The kinds of split that the authors' generator of gSCAN makes, and which one a file has.

`generalization` holds out the tests B to H. `target_lengths` holds out long action sequences: the
released file has them in the part `target_lengths`, the present generator in `test`. `uniform`
holds out nothing: train and test differ by a draw.
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
"""The official names of parts that no predicate of things and commands makes."""
LEARNED = (TRAIN, VALIDATION)
TOLERATED = 0.05
"""The share of examples that may be in a wrong part of a split of some kind."""
CHANCE = 1_000
"""A draw puts the longest examples in test once in so many cases, for lengths to be evidence."""
WORDS: Mapping[Kind, str] = {
    "generalization": "a `generalization` split: tests hold out combinations",
    "target_lengths": "a `target_lengths` split: the longest action sequences are held out",
    "uniform": "a `uniform` split: nothing is held out",
}


class Taken(NamedTuple):
    """The kind of split that a file is taken for."""

    kind: Kind
    long: str = ""
    """The part with the long action sequences, where that is the kind."""
    threshold: int = 0
    """The number of actions above which they are long."""

    def __str__(self) -> str:
        where = f" in {self.long!r}, with more than {self.threshold} actions" * bool(self.long)
        return f"{WORDS[self.kind]}{where}"


def kind_of(
    tables: Mapping[str, Demonstrations],
    flags: Mapping[str, Flags],
    header: Mapping[str, Any],
) -> Taken:
    """Return which kind of split a file is taken for.

    Args:
        tables: Its examples by the official names of the parts.
        flags: Which tests of `generalization` hold out each of them: [count, tests], by part.
        header: What it says beside the examples.
    """
    if len(tables.get(LONG, ())):
        return Taken("target_lengths", LONG, _threshold(tables, LONG)[0])
    known = [name for name in (*LEARNED, RANDOM) if len(tables.get(name, ()))]
    wrong = sum(int(flags[name].any(axis=1).sum()) for name in known)
    count = sum(len(tables[name]) for name in known)
    if any(len(tables.get(name, ())) for name in HELD_OUT) or wrong <= TOLERATED * count:
        return Taken("generalization")
    if RANDOM in known and known != [RANDOM]:
        threshold, wrong = _threshold(tables, RANDOM)
        if wrong <= TOLERATED * count and not _is_draw(tables, header):
            return Taken("target_lengths", RANDOM, threshold)
    return Taken("uniform")


def _is_draw(tables: Mapping[str, Demonstrations], header: Mapping[str, Any]) -> bool:
    """Whether few examples happen to be split by their length, in the share that a draw has."""
    tested = len(tables[RANDOM])
    count = tested + sum(len(tables.get(name, ())) for name in LEARNED)
    if math.comb(count, tested) > CHANCE:
        return False
    share = header.get("percentage_train", 0.9)
    return tested == count - round(share * count)


def _threshold(tables: Mapping[str, Demonstrations], long: str) -> tuple[int, int]:
    """Return the number of actions above which a part has what there is, and how many disagree.

    The number is nowhere written: it is the one that the fewest examples disagree with.
    """
    above = tables[long].actions.lengths
    rest = [each.actions.lengths for name, each in tables.items() if name != long]
    below = np.concatenate([np.zeros(0, np.int64), *rest])
    asked = np.unique(np.concatenate([above - 1, below]))
    wrong = [int((above <= each).sum() + (below > each).sum()) for each in asked]
    best = int(np.argmin(wrong))
    return int(asked[best]), wrong[best]
