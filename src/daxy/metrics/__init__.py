"""Metrics: one score a file. The folder is the registry: a module here is a metric of its name.

To add one, add a file that exposes `METRIC`, a `Metric`; tasks name the metrics they are judged by.
"""

from __future__ import annotations

from daxy.core.registry import Registry, named_by
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
    "text",
]


METRICS = Registry(__name__, "METRIC", "metric", Metric, problem=named_by("name"))
available, get = METRICS.available, METRICS.get


def text(name: str, value: float) -> str:
    """Return a metric's value for people: in per cent, unless it is no share."""
    return METRICS.get(name).text(value) if name in METRICS else f"{value:.1%}"


def is_share(name: str) -> bool:
    """Whether the values of a metric are between 0 and 1; so are those of an unknown one."""
    return METRICS.get(name).is_share if name in METRICS else True
