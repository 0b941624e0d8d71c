"""Test accuracy while networks train, from runs with `--evaluate-every`.

Later work found the accuracy of Lake & Baroni's networks to vary with the seed and with how long
they train. What is seen here is for looking at: weights are never chosen by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from daxy.core.errors import require
from daxy.core.summary import Summary
from daxy.experiments.run_folder import RunFolder
from daxy.report.analyses._analysis import Analysis, Findings, Row, judged


@final
class OverTraining(Analysis):
    """How the score on the test set changes as training goes on."""

    name = "over_training"
    summary = "test accuracy while training went on, of runs with --evaluate-every"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return a row for each number of steps after which every run was evaluated."""
        self.refuse(of)
        found = judged(folders)
        every = list[dict[int, float]]()
        for folder in folders:
            own = {each["steps"]: 100 * each["test"] for each in folder.evaluations()}
            said = f"{folder.path} was not evaluated while it trained; --evaluate-every does that"
            require(bool(own), said)
            every.append(own)
        shared = [steps for steps in every[0] if all(steps in own for own in every)]
        none = "these runs were evaluated after different numbers of steps"
        require(bool(shared), f"{none}, and none is common to all; look at them one by one")
        rows = (
            Row(
                group="steps",
                name=str(steps),
                examples=len(found.targets),
                value=Summary(runs=tuple(own[steps] for own in every)),
            )
            for steps in shared
        )
        return Findings(title=f"{found.task} over training", rows=tuple(rows), is_course=True)


ANALYSIS = OverTraining()
