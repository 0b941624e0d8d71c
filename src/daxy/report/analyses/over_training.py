"""Test accuracy during training, of runs with --test-every.

Where the test set is several tests, each has its own course. Later work found the accuracy of Lake
& Baroni's networks to vary with the seed and with how long they train. What is seen here is for
looking at: weights are never chosen by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from daxy import tasks
from daxy.core.errors import UnknownName, require
from daxy.core.summary import Summary
from daxy.report.analyses._analysis import Analysis, Findings, Row
from daxy.report.analyses._judged import judged
from daxy.runs.folder import RunFolder

WHOLE = ""
"""Name of a test set that is not several tests."""


@final
class OverTraining(Analysis):
    """How the score on the test set changes as training goes on."""

    name = "over_training"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return a row for each test and number of steps after which every run was evaluated."""
        task = judged(folders).task
        require(
            bool(tasks.get(task).sizes.tests) or not of, f"{task} has one test; leave out --test"
        )
        every = [_evaluations(folder) for folder in folders]
        shared = [steps for steps in every[0] if all(steps in own for own in every)]
        none = "these runs were evaluated after different numbers of steps"
        require(bool(shared), f"{none}, and none is common to all; analyse them one by one")
        known = list(every[0][shared[0]])
        for name in of:
            if name not in known:
                raise UnknownName("test", name, known)
        rows = (
            Row(
                group="steps" if test == WHOLE else f"test {test}, by steps",
                name=str(steps),
                value=Summary(runs=tuple(own[steps][test] for own in every)),
            )
            for test in known
            if test in of or not of
            for steps in shared
        )
        return Findings(title=f"{task} over training", rows=tuple(rows), is_course=True)


def _evaluations(folder: RunFolder) -> dict[int, dict[str, float]]:
    """Return a run's scores in per cent, of each test, by the steps after which it was looked at.

    Raises:
        WrongRequest: it was not.
    """
    found = {
        each["steps"]: each.get("tests") or {WHOLE: each["test"]} for each in folder.evaluations()
    }
    said = f"{folder.path} has no test scores in its log; train with --test-every"
    require(bool(found), said)
    return {
        steps: {test: 100 * score for test, score in own.items()} for steps, own in found.items()
    }


ANALYSIS = OverTraining()
