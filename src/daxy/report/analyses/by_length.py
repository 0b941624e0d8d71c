"""Accuracy by tokens in the target and in the source (Lake & Baroni 2018, Fig. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from daxy.core.errors import require
from daxy.report.analysis import AnalysisResult, DataAnalysis
from daxy.report.correctness import Correctness, correctness
from daxy.report.evaluated_runs import evaluated
from daxy.runs.folder import RunFolder


@final
class ByLength(DataAnalysis):
    """How accuracy depends on the lengths of the source and of the target."""

    name = "by_length"

    def run(self, folders: Sequence[RunFolder], selection: Sequence[str] = ()) -> AnalysisResult:
        """Return a row for each length in the test set, or in some tests by name."""
        unused = f"{self.name} reads official files for --test alone; leave out --official"
        require(bool(selection) or self.official is None, unused)
        if selection:
            return by_length(evaluated(folders, selection, self.official).correctness)
        return by_length(correctness(folders))


def by_length(results: Correctness) -> AnalysisResult:
    """Return a row for each length of a target or a source."""
    rows = tuple(
        results.row(f"tokens in the {side}", str(length), sequences.lengths == length)
        for side, sequences in (("target", results.targets), ("source", results.sources))
        for length in np.unique(sequences.lengths).tolist()
    )
    return AnalysisResult(title=f"{results.task} by length", rows=rows)


ANALYSIS = ByLength()
