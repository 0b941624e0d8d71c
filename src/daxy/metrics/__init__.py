"""Metrics: one score a file. The folder is the registry: a module here is a metric of its name.

To add one, add a file that exposes `METRIC`, a `Metric`; tasks name the metrics they are judged by.
"""

from __future__ import annotations

from daxy.core import registry
from daxy.metrics._metric import Metric, Scores

__all__ = ["Metric", "Scores", "available", "get"]


def available() -> list[str]:
    """Return the names of all metrics."""
    return registry.entries(__name__)


def get(name: str) -> Metric:
    """Return a metric.

    Raises:
        UnknownName: there is no such metric.
    """
    return registry.load(__name__, name, "METRIC", kind="metric").METRIC
