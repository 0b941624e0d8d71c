"""Accuracy when the target's length is given (Lake & Baroni 2018, Experiment 2).

Where it would end too early, the second best token is taken instead, until the output has the
length of the target. The length comes from the target: these are no scores of the network, but say
how much of what it gets wrong is when to stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import final

import numpy as np

from daxy import tasks
from daxy.report.analyses._analysis import Analysis, Findings, Row
from daxy.report.analyses._judged import judged
from daxy.runs.folder import RunFolder
from daxy.runs.saved import predict_of_length


@final
class LengthOracle(Analysis):
    """How many outputs are right once the target's length is given."""

    name = "length_oracle"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return accuracy without and with the oracle, and with it by length."""
        self.refuse(of)
        found = judged(folders)
        self.refuse_worlds(found.task)
        lengths = found.targets.lengths
        right = np.empty(found.right.shape, np.bool_)
        task = tasks.get(found.task)
        for place, folder in enumerate(folders):
            right[place] = task.score(found.metric, *predict_of_length(folder))
        told = replace(found, right=right)
        every = np.ones(len(lengths), np.bool_)
        ways = (("predicted", found), ("of the target", told))
        rows = [
            Row(
                group="length of the output",
                name=name,
                examples=len(lengths),
                value=outcome.over(every),
            )
            for name, outcome in ways
        ]
        rows += [
            Row(
                group="tokens in the target, with the length given",
                name=str(length),
                examples=int((lengths == length).sum()),
                value=told.over(lengths == length),
            )
            for length in np.unique(lengths).tolist()
        ]
        title = f"{found.task} with the length given"
        return Findings(title=title, rows=tuple(rows))


ANALYSIS = LengthOracle()
