"""Metrics: one score a file. The folder is the registry: a module here is a metric of its name.

To add one, add a file that exposes `METRIC`, a `Metric`; tasks name the metrics they are judged by.
"""

from __future__ import annotations

from daxy.core.registry import Registry
from daxy.metrics._metric import Accepted, Metric, Rules, Scores

__all__ = ["METRICS", "Accepted", "Metric", "Rules", "Scores", "available", "get"]


METRICS = Registry(__name__, "METRIC", "metric", Metric)
available, get = METRICS.available, METRICS.get
