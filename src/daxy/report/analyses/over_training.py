"""Test accuracy during training, of runs with --test-every.

Where the test set is several tests, each has its own curve. Later work found that the accuracy of
Lake & Baroni's networks varies with the seed and with the length of training. These scores are for
inspection: they never select weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from daxy.core.errors import UnknownName, require
from daxy.core.summary import Summary
from daxy.report.analysis import Analysis, AnalysisResult, Row
from daxy.report.correctness import correctness
from daxy.runs.folder import RunFolder

WHOLE = ""
"""Name of a test set that is not several tests."""


@final
class OverTraining(Analysis):
    """How the score on the test set changes during training."""

    name = "over_training"

    def run(self, folders: Sequence[RunFolder], selection: Sequence[str] = ()) -> AnalysisResult:
        """Return a row for each test and number of steps after which every run was evaluated."""
        task = correctness(folders).task
        has_tests = bool(folders[0].scores().get("tests"))
        require(has_tests or not selection, f"{task} has one test; leave out --test")
        curves = [_scores(folder) for folder in folders]
        shared = [steps for steps in curves[0] if all(steps in curve for curve in curves)]
        different = "these runs were evaluated after different numbers of steps"
        require(bool(shared), f"{different}, and none is common to all; analyse them one by one")
        known = list(curves[0][shared[0]])
        for name in selection:
            if name not in known:
                raise UnknownName("test", name, known)
        rows = (
            Row(
                group="steps" if test == WHOLE else f"test {test}, by steps",
                name=str(steps),
                value=Summary(runs=tuple(curve[steps][test] for curve in curves)),
            )
            for test in known
            if test in selection or not selection
            for steps in shared
        )
        return AnalysisResult(title=f"{task} over training", rows=tuple(rows), is_curve=True)


def _scores(folder: RunFolder) -> dict[int, dict[str, float]]:
    """Return a run's scores in per cent, by step and test.

    Raises:
        WrongRequest: the run has no test scores in its log.
    """
    evaluations = folder.evaluations()
    require(
        bool(evaluations), f"{folder.path} has no test scores in its log; train with --test-every"
    )
    scores = {each["steps"]: each.get("tests") or {WHOLE: each["test"]} for each in evaluations}
    return {
        steps: {test: 100 * score for test, score in own.items()} for steps, own in scores.items()
    }


ANALYSIS = OverTraining()
