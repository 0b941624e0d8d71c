"""Metrics: one score a file. The folder is the registry: a module here is a metric of its name.

To add one, add a file that exposes `METRIC`, a `Metric`; tasks name the metrics they are judged by.
"""

from __future__ import annotations

import numpy as np

from daxy.core.examples import Examples
from daxy.core.registry import Registry, named_by
from daxy.core.sequences import Predictions
from daxy.metrics._checks import problem_of_scores, problem_of_total
from daxy.metrics._metric import Accepted, Metric, Rules, Scores

__all__ = [
    "METRICS",
    "Accepted",
    "Metric",
    "Rules",
    "Scores",
    "available",
    "get",
    "is_share",
    "score",
    "text",
    "total",
]


METRICS = Registry(__name__, "METRIC", "metric", Metric, problem=named_by("name"))
available, get = METRICS.available, METRICS.get


def score(name: str, task: Rules, examples: Examples, predictions: Predictions) -> Scores:
    """Return a metric's value of each prediction: shape [count].

    Raises:
        WrongFile: a value is NaN, out of the metric's range or no number; names the package.
    """
    metric = get(name)
    scores = metric.score(task, examples, predictions)
    if problem := problem_of_scores(metric, scores, len(examples)):
        raise METRICS.fault(name, problem)
    is_final = scores.dtype == np.bool_ or not metric.is_share
    return scores if is_final else np.clip(scores.astype(np.float64), 0, 1)


def total(
    name: str, task: Rules, examples: Examples, predictions: Predictions, scores: Scores | None
) -> float:
    """Return a metric's total, NaN for no examples; `scores` as returned by `score`.

    Raises:
        WrongFile: see `score`.
    """
    metric = get(name)
    if scores is None and metric.is_mean:
        scores = score(name, task, examples, predictions)
    value = metric.total(task, examples, predictions, scores)
    if problem := problem_of_total(metric, value, len(examples)):
        raise METRICS.fault(name, problem)
    return float(np.clip(value, 0, 1)) if metric.is_share else float(value)


def text(name: str, value: float) -> str:
    """Return a metric's value for people: in per cent, unless it is no share."""
    return METRICS.get(name).text(value) if name in METRICS else f"{value:.1%}"


def is_share(name: str) -> bool:
    """Whether the values of a metric are between 0 and 1; so are those of an unknown one."""
    return METRICS.get(name).is_share if name in METRICS else True
