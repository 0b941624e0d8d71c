"""Analyses of finished runs, one a file. The folder is the registry.

To add an analysis, write a file that exposes `ANALYSIS`, an `Analysis`. It reads the folders of
runs of one learner on one task, which differ in their seeds, and returns an `AnalysisResult`.
`daxy analyse` lists the first line of the file's docstring.
"""

from __future__ import annotations

from daxy.core.registry import Registry, named_by
from daxy.report.analysis import Analysis, AnalysisResult

__all__ = ["Analysis", "AnalysisResult", "available", "get", "summary", "usable"]

ANALYSES = Registry(__name__, "ANALYSIS", "analysis", Analysis, problem=named_by("name"))
available, get, summary = ANALYSES.available, ANALYSES.get, ANALYSES.summary
usable = ANALYSES.usable
