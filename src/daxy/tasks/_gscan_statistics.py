"""Statistics of gSCAN examples: those of Table 3 of Ruis et al. (2020), and distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from daxy.languages import grounded
from daxy.languages.grounded import COLORS, MANNERS, SHAPES, SIZES, VERBS
from daxy.tasks._gscan_examples import Demonstrations
from daxy.worlds.placement import DIRECTIONS

NO_MANNER = "none"


def facts(table: Demonstrations) -> dict[str, float]:
    """Return the unique examples, in all and per command (Table 3).

    Two examples are the same if they share the command, the actions and the target's cell.
    """
    unique = len(np.unique(table.duplicate_ids))
    commands = len(np.unique(table.command))
    return {"unique": unique, "unique per command": unique / commands if commands else 0.0}


def distributions(table: Demonstrations) -> dict[str, dict[str, int]]:
    """Return counts by verb, manner, target, size, direction and distance."""
    shapes, colors, sizes = table.worlds.targets.T.astype(np.int64)
    commands = grounded.commands()
    verbs = np.array([VERBS.index(each.verb) for each in commands])
    manners = (NO_MANNER, *MANNERS)
    places = np.array([manners.index(each.manner or NO_MANNER) for each in commands])
    referents = [f"{color} {shape}" for shape in SHAPES for color in COLORS]
    distances = np.abs(table.target_offsets).sum(axis=1)
    longest = int(distances.max(initial=0))
    return {
        "verb": _counts(verbs[table.command], VERBS),
        "manner": _counts(places[table.command], manners),
        "referent": _counts(shapes * len(COLORS) + colors, referents),
        "size": _counts(sizes, [str(size) for size in SIZES]),
        "direction": _counts(table.directions, list(DIRECTIONS)),
        "distance": _counts(distances, [str(each) for each in range(longest + 1)]),
    }


def _counts(codes: NDArray[np.int64], names: Sequence[str]) -> dict[str, int]:
    counts: Mapping[str, int] = dict(
        zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True)
    )
    return {name: count for name, count in counts.items() if count or not name.isdigit()}
