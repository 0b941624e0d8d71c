"""Translation: a new word, construction by construction (Lake & Baroni 2018, Exp. 4).

Each of eight constructions with the new word, and with one that is known well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

import numpy as np

from daxy import tasks
from daxy.core.errors import WrongRequest
from daxy.core.summary import Summary
from daxy.languages import copular
from daxy.report.analyses._analysis import Analysis, Findings, Row
from daxy.report.analyses._judged import judged
from daxy.runs.folder import RunFolder
from daxy.tasks.translation import CONTROL, NEW_WORD, TranslationTask

METRICS = ("exact", "accepted")


@final
class Constructions(Analysis):
    """Which constructions of the new word are translated."""

    name = "constructions"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return a row for each construction and word, by both ways to count."""
        self.refuse(of)
        found = judged(folders)
        if not isinstance(tasks.get(found.task), TranslationTask):
            raise WrongRequest(f"{found.task} is not about a new word in constructions")
        config = folders[0].config()
        words = {NEW_WORD: str(config.choices["word"]), CONTROL: "tired"}
        last = len(found.sources) - len(words) * len(copular.CONSTRUCTIONS)
        right = {found.metric: found.right, **found.others}
        rows = [
            row
            for metric in METRICS
            for row in _rows(right[metric][:, last:], metric, list(words.values()))
        ]
        return Findings(title=f"{found.task}: a new word in constructions", rows=tuple(rows))


def _rows(right: np.ndarray, metric: str, words: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each construction of each word, and one for all of them."""
    count = len(copular.CONSTRUCTIONS)
    for number, word in enumerate(words):
        own = 100.0 * right[:, number * count : (number + 1) * count]
        group = f"{word}, {metric}"
        for name, runs in zip(copular.CONSTRUCTIONS, own.T, strict=True):
            yield Row(group=group, name=f"{name} X", value=Summary(runs=tuple(runs.tolist())))
        yield Row(group=group, name="all", value=Summary(runs=tuple(own.mean(axis=1).tolist())))


ANALYSIS = Constructions()
