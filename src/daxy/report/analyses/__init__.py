"""Analyses of finished runs, one a file. The folder is the registry.

To add an analysis, write a file that exposes `ANALYSIS`, an `Analysis`: it reads the folders of
runs of one learner on one task, which differ in their seeds, and returns its findings. `daxy
analyse` lists the first line of the file's docstring.
"""

from __future__ import annotations

from daxy.core import registry
from daxy.report.analyses._analysis import Analysis, Findings

__all__ = ["Analysis", "Findings", "available", "get", "summary"]


def available() -> list[str]:
    """Return the names of all analyses."""
    return registry.entries(__name__)


def get(name: str) -> Analysis:
    """Return an analysis.

    Raises:
        UnknownName: there is no such analysis.
    """
    return registry.load(__name__, name, "ANALYSIS", kind="analysis").ANALYSIS


def summary(name: str) -> str:
    """Return what an analysis looks at, in a line; it imports nothing."""
    return registry.summary(__name__, name)
