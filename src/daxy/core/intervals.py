"""95% intervals of a figure over examples."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from daxy.core.random import stream

Z = 1.959964
"""The normal distribution has 95% between -Z and Z."""


def interval_of_share(right: int, count: int) -> tuple[float, float]:
    """Return the 95% interval of a share (Wilson 1927); (0, 1) for no examples."""
    if not count:
        return 0.0, 1.0
    share, square = right / count, Z * Z / count
    middle = share + square / 2
    half = Z * sqrt((share * (1 - share) + square / 4) / count)
    return max(0.0, (middle - half) / (1 + square)), min(1.0, (middle + half) / (1 + square))


def interval_of_mean(
    values: NDArray[np.float64],
    figure: Callable[[NDArray[np.int64]], float] | None = None,
    *,
    draws: int = 1_000,
) -> tuple[float, float]:
    """Return the 95% bootstrap interval of a figure, by percentiles, with seed 0.

    Args:
        values: One for each example: shape [count].
        figure: Figure of the examples at these rows; by default, the mean of their values.
        draws: Number of bootstrap draws.
    """
    if not len(values):
        return 0.0, 1.0
    random = stream(0, "bootstrap")
    figures = [
        float(values[rows].mean()) if figure is None else figure(rows)
        for rows in (random.integers(len(values), size=len(values)) for _ in range(draws))
    ]
    low, high = np.quantile(figures, (0.025, 0.975))
    return float(low), float(high)
