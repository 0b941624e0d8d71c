"""What a network says when it is told how long its output is (Lake & Baroni 2018, Experiment 2).

Where it would end too early, the second best token is taken instead, until the output has the
length of the target. The length comes from the target: these are no scores of the network, but say
how much of what it gets wrong is when to stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import final

import numpy as np

from daxy import metrics
from daxy.core.examples import Examples, Sequences
from daxy.experiments.run_folder import RunFolder
from daxy.experiments.trained import load
from daxy.report.analyses._analysis import Analysis, Findings, Row, judged


@final
class LengthOracle(Analysis):
    """How many outputs are right once the target's length is given."""

    name = "length_oracle"
    summary = "accuracy when the target's length is given (Lake & Baroni 2018, Experiment 2)"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return accuracy without and with the oracle, and with it by length."""
        self.refuse(of)
        found = judged(folders)
        self.refuse_worlds(found.task)
        test = Examples(Sequences.of(found.sources), Sequences.of(found.targets))
        lengths = np.array([len(target) for target in found.targets])
        right = np.empty(found.right.shape, np.bool_)
        for place, folder in enumerate(folders):
            said = load(folder.path).predict_of_length(test.source, lengths)
            right[place] = metrics.get(found.metric).score(test, said)

        told = replace(found, right=right)
        every = np.ones(len(test), np.bool_)
        ways = (("its own", found), ("the target's", told))
        rows = [
            Row(
                group="length of the output",
                name=name,
                examples=len(test),
                value=outcome.over(every),
            )
            for name, outcome in ways
        ]
        rows += [
            Row(
                group="tokens in the target, which is known",
                name=str(length),
                examples=int((lengths == length).sum()),
                value=told.over(lengths == length),
            )
            for length in np.unique(lengths).tolist()
        ]
        title = f"{found.task} with the length given"
        return Findings(title=title, rows=tuple(rows))


ANALYSIS = LengthOracle()
