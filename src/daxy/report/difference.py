"""Differences between two learners on one test set, with intervals and a test.

Two questions differ. *Over seeds*: would other seeds give the same difference? Welch's interval of
the difference of two means answers that. *Over examples*: would other test examples? The interval
of paired differences answers that. McNemar's exact test is for two single runs: it asks whether the
examples that only one of them gets right are shared evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Interval = tuple[float, float]
LEVEL = 0.95
TINY = 1e-24
"""Variance of runs without a spread, up to rounding."""
ADDED = 0.5
"""Examples that are added to each cell of a table of two single runs."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The first learner's accuracy minus the second's, in points."""

    first: str
    second: str
    """Labels of the learners."""
    mean: float
    over_seeds: Interval | None
    """95% interval; None unless both learners have several runs."""
    over_examples: Interval
    """95% interval."""
    only_first: int | None = None
    """Examples that only the first run has right; None unless both are single runs."""
    only_second: int | None = None
    p: float | None = None
    """Two-sided p of McNemar's exact test; None unless both are single runs."""

    @property
    def as_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        return vars(self)


def difference(
    first: str, right: NDArray[np.bool_], second: str, other: NDArray[np.bool_]
) -> Difference:
    """Return the difference between two learners.

    Args:
        first: Label of the first learner.
        right: Correctness of each example in each of its runs: shape [runs, examples].
        second: Label of the second learner.
        other: The same for the second learner, on the same examples.
    """
    single = len(right) == len(other) == 1
    only_first, only_second = (
        int((one & ~two).sum()) for one, two in ((right[0], other[0]), (other[0], right[0]))
    )
    seeds = over_seeds(right.mean(axis=1).tolist(), other.mean(axis=1).tolist())
    return Difference(
        first=first,
        second=second,
        mean=100 * float(right.mean() - other.mean()),
        over_seeds=None if seeds is None else _points(seeds),
        over_examples=_points(over_examples(right.mean(axis=0) - other.mean(axis=0))),
        only_first=only_first if single else None,
        only_second=only_second if single else None,
        p=mcnemar(only_first, only_second) if single else None,
    )


def over_seeds(first: Sequence[float], second: Sequence[float]) -> Interval | None:
    """Return Welch's 95% interval of the difference of two means.

    None for a single run, and for runs without any spread, which say nothing about other seeds.
    """
    if min(len(first), len(second)) < 2:
        return None
    middle = float(np.mean(first) - np.mean(second))
    parts = [float(np.var(runs, ddof=1)) / len(runs) for runs in (first, second)]
    if sum(parts) < TINY:
        return None
    counts = len(first) - 1, len(second) - 1
    degrees = sum(parts) ** 2 / sum(it**2 / count for it, count in zip(parts, counts, strict=True))
    half = float(stats.t.ppf((1 + LEVEL) / 2, degrees)) * sqrt(sum(parts))
    return max(-1.0, middle - half), min(1.0, middle + half)


def over_examples(differences: NDArray[np.float64]) -> Interval:
    """Return the 95% interval of the mean of paired differences, each between -1 and 1.

    Half an example is added to each cell of the table of two single runs: for these, this is the
    interval of Agresti & Min (2005), "Simple improved confidence intervals for comparing matched
    proportions". So it has a width even where the runs never part.

    Args:
        differences: One for each example: shape [examples].
    """
    total = len(differences) + 4 * ADDED
    middle = float(differences.sum()) / total
    variance = (float((differences**2).sum()) + 2 * ADDED) / total - middle**2
    half = float(stats.norm.ppf((1 + LEVEL) / 2)) * sqrt(variance / total)
    return max(-1.0, middle - half), min(1.0, middle + half)


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the two-sided p of McNemar's exact test (McNemar 1947): 1 if the runs never part."""
    parted = only_first + only_second
    return float(stats.binomtest(only_first, parted, 0.5).pvalue) if parted else 1.0


def _points(interval: Interval) -> Interval:
    return 100 * interval[0], 100 * interval[1]
