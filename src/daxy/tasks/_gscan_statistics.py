"""What examples of gSCAN are like: counted as in Table 3 of Ruis et al. (2020), and by kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from daxy.languages import grounded
from daxy.languages.grounded import COLORS, MANNERS, SHAPES, SIZES, VERBS
from daxy.tasks._gscan_examples import Demonstrations
from daxy.worlds.placement import DIRECTIONS

NO_MANNER = "none"


def facts(shown: Demonstrations) -> dict[str, float]:
    """Return how many examples are unique, and of these how many a command has: Table 3.

    An example is unique if command, actions or the target's cell differ.
    """
    unique = len(np.unique(shown.alike))
    commands = len(np.unique(shown.command))
    return {"unique": unique, "unique per command": unique / commands if commands else 0.0}


def distributions(shown: Demonstrations) -> dict[str, dict[str, int]]:
    """Return how many examples there are of each verb, manner, target, direction, distance."""
    shapes, colors, sizes = shown.targets.T.astype(np.int64)
    commands = grounded.commands()
    verbs = np.array([VERBS.index(each.verb) for each in commands])
    manners = (NO_MANNER, *MANNERS)
    places = np.array([manners.index(each.manner or NO_MANNER) for each in commands])
    referents = [f"{color} {shape}" for shape in SHAPES for color in COLORS]
    distances = np.abs(shown.ways).sum(axis=1)
    longest = int(distances.max(initial=0))
    return {
        "verb": _counts(verbs[shown.command], VERBS),
        "manner": _counts(places[shown.command], manners),
        "referent": _counts(shapes * len(COLORS) + colors, referents),
        "size": _counts(sizes, [str(size) for size in SIZES]),
        "direction": _counts(shown.directions, list(DIRECTIONS)),
        "distance": _counts(distances, [str(each) for each in range(longest + 1)]),
    }


def _counts(codes: NDArray[np.int64], names: Sequence[str]) -> dict[str, int]:
    counts: Mapping[str, int] = dict(
        zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True)
    )
    return {name: count for name, count in counts.items() if count or not name.isdigit()}
