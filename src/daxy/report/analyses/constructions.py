"""Translation: a new word, construction by construction (Lake & Baroni 2018, Exp. 4).

Each of eight constructions with the new word, and with a frequent one as a control.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

import numpy as np

from daxy import tasks
from daxy.core.errors import WrongRequest
from daxy.core.summary import Summary
from daxy.languages import copular
from daxy.report.analysis import Analysis, AnalysisResult, Row
from daxy.report.correctness import correctness
from daxy.runs.folder import RunFolder
from daxy.tasks.translation import CONTROL, NEW_WORD, TranslationTask

METRICS = ("exact", "accepted")


@final
class Constructions(Analysis):
    """Which constructions of the new word are translated."""

    name = "constructions"

    def run(self, folders: Sequence[RunFolder], selection: Sequence[str] = ()) -> AnalysisResult:
        """Return a row for each construction and word, by two metrics."""
        self.refuse_selection(selection)
        results = correctness(folders)
        if not isinstance(tasks.get(results.task), TranslationTask):
            raise WrongRequest(f"{results.task} is not about a new word in constructions")
        config = folders[0].config()
        words = {NEW_WORD: str(config.choices["word"]), CONTROL: "tired"}
        last = len(results.sources) - len(words) * len(copular.CONSTRUCTIONS)
        scores = {results.metric: results.right, **results.others}
        rows = [
            row
            for metric in METRICS
            for row in _rows(scores[metric][:, last:], metric, list(words.values()))
        ]
        return AnalysisResult(title=f"{results.task}: a new word in constructions", rows=(*rows,))


def _rows(scores: np.ndarray, metric: str, words: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each construction of each word, and one for all of them."""
    count = len(copular.CONSTRUCTIONS)
    for number, word in enumerate(words):
        shares = 100.0 * scores[:, number * count : (number + 1) * count]
        group = f"{word}, {metric}"
        for name, runs in zip(copular.CONSTRUCTIONS, shares.T, strict=True):
            yield Row(group=group, name=f"{name} X", value=Summary(runs=tuple(runs.tolist())))
        yield Row(group=group, name="all", value=Summary(runs=tuple(shares.mean(axis=1).tolist())))


ANALYSIS = Constructions()
