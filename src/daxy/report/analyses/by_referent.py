"""gSCAN: accuracy by the phrase for the target, beside chance (Ruis et al. 2020, T. 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import final

import numpy as np

from daxy.languages import grounded
from daxy.report.analysis import AnalysisResult, DataAnalysis, Row
from daxy.report.evaluated_runs import EvaluatedRuns, evaluated_in_worlds
from daxy.runs.folder import RunFolder


@final
class ByReferent(DataAnalysis):
    """Which phrases networks find the target by, test by test.

    Chance is to choose any object in the world and to act on it as the command says.
    """

    name = "by_referent"

    def run(self, folders: Sequence[RunFolder], selection: Sequence[str] = ()) -> AnalysisResult:
        """Return a row for each phrase in each test, or in some tests by name."""
        runs = evaluated_in_worlds(folders, selection, self.official)
        rows = tuple(row for test in runs.tests for row in _rows(runs, test))
        return AnalysisResult(title=f"{runs.task} by referent", rows=rows)


def _rows(runs: EvaluatedRuns, test: str) -> Iterator[Row]:
    phrases = [str(command.phrase).removeprefix("a ") for command in grounded.commands()]
    order = list(dict.fromkeys(phrases))
    referents = np.where(runs.test == test, np.array(phrases)[runs.columns.command], "")
    objects = np.diff(runs.columns.worlds.offsets)
    for row in runs.rows_by(test, referents, order):
        yield replace(row, chance=100 * float((1 / objects[referents == row.name]).mean()))


ANALYSIS = ByReferent()
