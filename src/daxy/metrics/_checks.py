"""Checks of what a metric returns: a package of anybody's can add one."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from daxy.core.errors import quote
from daxy.metrics._metric import Metric

ROUNDING = 1e-9
"""Distance from the range of a share that is no error."""


def problem_of_scores(metric: Metric, scores: Any, count: int) -> str:
    """Return the problem of a metric's values for `count` predictions, empty for none."""
    is_array = isinstance(scores, np.ndarray) and scores.dtype.kind in "biuf"
    if not is_array or scores.shape != (count,):
        value = f"an array of {scores.dtype}" if isinstance(scores, np.ndarray) else quote(scores)
        shape = f" of shape {scores.shape}" if is_array else ""
        return f"`score` gave {value}{shape}; expected an array of {count:,} numbers or booleans"
    wrong = np.flatnonzero(~_fits(metric, scores))
    if not len(wrong):
        return ""
    return f"`score` gave {scores[wrong[0]]:g} for example {wrong[0]}; expected {_expected(metric)}"


def problem_of_total(metric: Metric, total: Any, count: int) -> str:
    """Return the problem of a metric's total of `count` predictions, empty for none."""
    if isinstance(total, Real) and (not count or _fits(metric, np.float64(total))):
        return ""
    return f"`total` gave {quote(total)}; expected {_expected(metric)}"


def _fits(metric: Metric, values: Any) -> Any:
    """Return where values are in the metric's range: NaN never, infinity where it is no share."""
    if not metric.is_share:
        return ~np.isnan(values)
    return (values >= -ROUNDING) & (values <= 1 + ROUNDING)


def _expected(metric: Metric) -> str:
    return "a number from 0 to 1" if metric.is_share else "a number"
