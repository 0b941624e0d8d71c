"""Analyses of finished runs, one a file. The folder is the registry.

To add an analysis, write a file that exposes `ANALYSIS`, an `Analysis`: it reads the folders of
runs of one learner on one task, which differ in their seeds, and returns its findings. `daxy
analyse` lists the first line of the file's docstring.
"""

from __future__ import annotations

from daxy.core.registry import Registry
from daxy.report.analyses._analysis import Analysis, Findings

__all__ = ["Analysis", "Findings", "available", "get", "summary"]

ANALYSES = Registry(__name__, "ANALYSIS", "analysis", Analysis)
available, get, summary = ANALYSES.available, ANALYSES.get, ANALYSES.summary
