"""Accuracy when the target's length is given (Lake & Baroni 2018, Experiment 2).

Where the output would end too early, the second best token is taken, until the output has the
length of the target. These are no scores of the network, as the length comes from the target. They
show how many errors are errors of when to stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import final

import numpy as np

from daxy import tasks
from daxy.report.analysis import Analysis, AnalysisResult
from daxy.report.correctness import correctness
from daxy.runs.folder import RunFolder
from daxy.runs.saved import predict_of_length


@final
class LengthOracle(Analysis):
    """How many outputs are right once the target's length is given."""

    name = "length_oracle"

    def run(self, folders: Sequence[RunFolder], selection: Sequence[str] = ()) -> AnalysisResult:
        """Return accuracy without and with the oracle, and with it by length."""
        self.refuse_selection(selection)
        predicted = correctness(folders)
        self.refuse_worlds(predicted.task)
        task, metric = tasks.get(predicted.task), predicted.metric
        scores = [task.score(metric, *predict_of_length(folder)) for folder in folders]
        predicted = replace(predicted, others={})
        oracle = replace(predicted, right=np.array(scores).astype(np.bool_))
        lengths, group = predicted.targets.lengths, "length of the output"
        rows = [
            results.row(group, name, lengths >= 0)
            for name, results in (("predicted", predicted), ("of the target", oracle))
        ]
        given = "tokens in the target, with the length given"
        rows += [
            oracle.row(given, str(length), lengths == length)
            for length in np.unique(lengths).tolist()
        ]
        title = f"{predicted.task} with the length given"
        return AnalysisResult(title=title, rows=tuple(rows))


ANALYSIS = LengthOracle()
