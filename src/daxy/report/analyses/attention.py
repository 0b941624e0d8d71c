"""gSCAN: whether networks attend to the target (Ruis et al. 2020, section 5).

If a network attends to the target and yet errs, it fails at the action; else at finding the target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Sequences
from daxy.core.random import stream
from daxy.core.summary import Summary
from daxy.report.analysis import AnalysisResult, DataAnalysis, Row
from daxy.report.evaluated_runs import EvaluatedRuns, evaluated_in_worlds
from daxy.runs.folder import RunFolder
from daxy.runs.saved import load_network

MAX_EXAMPLES = 2_000
"""Maximum examples of a test, drawn at random: each has to be decoded again."""


@final
class Attention(DataAnalysis):
    """How often the cell with the most attention over all steps is the target's."""

    name = "attention"

    def run(self, folders: Sequence[RunFolder], selection: Sequence[str] = ()) -> AnalysisResult:
        """Return shares of all, right and wrong episodes, of a draw of each test."""
        runs = evaluated_in_worlds(folders, selection, self.official)
        drawn = {test: _drawn(runs, test) for test in runs.tests}
        rows = np.concatenate(list(drawn.values()))
        attends = np.zeros((len(folders), len(runs.test)), np.bool_)
        for run, (folder, outputs) in enumerate(zip(folders, runs.predictions, strict=True)):
            attends[run, rows] = _attends(runs, rows, folder, outputs)
        return AnalysisResult(
            title=f"{runs.task}: attends to the target most, in",
            rows=tuple(row for test in drawn for row in _rows(runs, test, drawn[test], attends)),
            measure="attends (%)",
        )


def _drawn(runs: EvaluatedRuns, test: str) -> NDArray[np.int64]:
    rows = np.flatnonzero(runs.test == test)
    return np.sort(stream(0, f"attention, {test}").permutation(rows)[:MAX_EXAMPLES])


def _attends(
    runs: EvaluatedRuns, rows: NDArray[np.int64], folder: RunFolder, outputs: Sequences
) -> NDArray[np.bool_]:
    """Return for which examples a run's network attends to the target most."""
    sources, worlds = runs.examples.source.take(rows), runs.columns.worlds.take(rows)
    targets = worlds.target_cells.astype(np.int64) @ [int(worlds.size.max()), 1]
    attention = load_network(folder.path).attention_to_cells(sources, outputs.take(rows), worlds)
    return attention.argmax(axis=1) == targets


def _rows(
    runs: EvaluatedRuns, test: str, rows: NDArray[np.int64], attends: NDArray[np.bool_]
) -> Iterator[Row]:
    """Yield a row for all, right and wrong episodes, if every run has some."""
    right = runs.correctness.right[:, rows]
    for name, mask in (("all episodes", right | True), ("right ones", right), ("errors", ~right)):
        if mask.any(axis=1).all():
            pairs = zip(attends[:, rows], mask, strict=True)
            yield Row(
                group=test,
                name=name,
                examples=round(float(mask.sum(axis=1).mean())),
                value=Summary(runs=tuple(100 * float(own[chosen].mean()) for own, chosen in pairs)),
            )


ANALYSIS = Attention()
