"""Validation score during training, or the training loss of runs without a validation set.

Each run has a line, over the steps after which all runs were evaluated. `daxy report` shows both
curves of runs of any learners.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, final

from daxy.core.errors import require
from daxy.core.summary import Summary
from daxy.report.analysis import Analysis, AnalysisResult, Row
from daxy.report.correctness import correctness
from daxy.runs.folder import RunFolder

VALIDATION, LOSS = "validation", "loss"
MEASURES = {VALIDATION: "validation, right (%)", LOSS: "training loss"}


@final
class LearningCurves(Analysis):
    """Score on the validation set during training, or else the training loss."""

    name = "learning_curves"

    def run(self, folders: Sequence[RunFolder], selection: Sequence[str] = ()) -> AnalysisResult:
        """Return a row for each number of steps after which every run was evaluated."""
        task = correctness(folders).task
        require(not selection, f"{self.name} analyses the whole validation set; leave out --test")
        logs = [folder.records() for folder in folders]
        known = [(field, _curves(logs, field)) for field in MEASURES]
        field, curves = next(((field, them) for field, them in known if them), (LOSS, {}))
        require(bool(curves), f"{folders[0].path} has no curve in its log, or none in common")
        unit = 100 if field == VALIDATION else 1
        rows = [
            Row(
                group="steps",
                name=str(steps),
                value=Summary(runs=tuple(unit * value for value in values)),
            )
            for steps, values in curves.items()
        ]
        top = max(max(row.value.runs) for row in rows)
        return AnalysisResult(
            title=f"{task}, learning curves",
            rows=tuple(rows),
            measure=MEASURES[field],
            y_max=102 if field == VALIDATION else 1.05 * top,
            is_curve=True,
        )


def _curves(
    logs: Sequence[Sequence[Mapping[str, Any]]], field: str
) -> dict[int, tuple[float, ...]]:
    """Return a field's values of each run, by the steps after which all runs have one."""
    own = [
        {it["steps"]: it[field] for it in log if it.get(field) is not None and isfinite(it[field])}
        for log in logs
    ]
    shared = (steps for steps in own[0] if all(steps in curve for curve in own))
    return {steps: tuple(curve[steps] for curve in own) for steps in shared}


ANALYSIS = LearningCurves()
