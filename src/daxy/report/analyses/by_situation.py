"""gSCAN: accuracy by test, verb, manner, direction and distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from daxy.languages import grounded
from daxy.languages.grounded import MANNERS, VERBS
from daxy.report.analysis import AnalysisResult, DataAnalysis
from daxy.report.evaluated_runs import evaluated_in_worlds
from daxy.runs.folder import RunFolder
from daxy.worlds.placement import DIRECTIONS

PLAIN = "no manner"


@final
class BySituation(DataAnalysis):
    """Accuracy by test, verb, manner, and the way from the agent to the target."""

    name = "by_situation"

    def run(self, folders: Sequence[RunFolder], selection: Sequence[str] = ()) -> AnalysisResult:
        """Return a row for each value of each of these, over all tests or some by name."""
        runs = evaluated_in_worlds(folders, selection, self.official)
        columns, commands = runs.columns, grounded.commands()
        verbs = np.array([command.verb for command in commands])[columns.command]
        manners = np.array([command.manner or PLAIN for command in commands])[columns.command]
        directions = np.array(list(DIRECTIONS))[columns.directions]
        distances = np.abs(columns.target_offsets).sum(axis=1)
        cells = [str(each) for each in np.unique(distances).tolist()]
        rows = (
            *runs.rows_by("test", runs.test, runs.tests),
            *runs.rows_by("verb", verbs, VERBS),
            *runs.rows_by("manner", manners, (PLAIN, *MANNERS)),
            *runs.rows_by("direction of the target", directions, list(DIRECTIONS)),
            *runs.rows_by("cells to the target", distances.astype(str), cells),
        )
        return AnalysisResult(title=f"{runs.task} by situation", rows=rows)


ANALYSIS = BySituation()
