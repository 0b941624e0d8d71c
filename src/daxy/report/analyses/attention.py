"""Whether the network looks at the target (Ruis et al. 2020, section 5).

An error of a network that attends to the right thing is one of saying what to do; of one that does
not, one of finding what is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.random import stream
from daxy.core.summary import Summary
from daxy.experiments.run_folder import RunFolder
from daxy.experiments.trained import load
from daxy.report.analyses._analysis import Analysis, Findings, Row
from daxy.report.analyses._grounded import Asked, asked

MOST = 2_000
"""Examples of a test that are looked at, drawn: each has to be said again, token by token."""


@final
class Attention(Analysis):
    """How often the cell that is attended to most, over all steps, is the target's."""

    name = "attention"
    summary = "gSCAN: whether networks attend to the target (Ruis et al. 2020, section 5)"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return shares of all, right and wrong episodes, of a draw of each test."""
        found = asked(folders, of)
        rows = list[Row]()
        for test in found.tests:
            chosen = np.flatnonzero(found.test == test)
            drawn = stream(0, f"attention, {test}").permutation(len(chosen))[:MOST]
            rows += _rows(found, test, np.sort(chosen[drawn]))
        return Findings(
            title=f"{found.found.task}: attends to the target most, in",
            rows=tuple(rows),
            measure="does so (%)",
        )


def _rows(found: Asked, test: str, chosen: NDArray[np.int64]) -> list[Row]:
    examples = found.examples.take(chosen)
    targets = examples.worlds.cells[examples.worlds.offsets[:-1]].astype(np.int64)
    wanted = targets @ [int(examples.worlds.size.max()), 1]
    looks = np.array(
        [
            load(folder.path).attended(examples.source, said.take(chosen), examples.worlds)
            for folder, said in zip(found.folders, found.predictions, strict=True)
        ]
    )
    finds = looks.argmax(axis=2) == wanted
    right = found.found.right[:, chosen]
    kinds = {"all episodes": np.ones_like(right), "right ones": right, "errors": ~right}
    return [
        Row(
            group=test,
            name=name,
            examples=round(float(kind.sum(axis=1).mean())),
            value=Summary(runs=tuple(100 * own[is_it].mean() for own, is_it in pairs)),
        )
        for name, kind in kinds.items()
        if kind.any(axis=1).all()
        for pairs in [list(zip(finds, kind, strict=True))]
    ]


ANALYSIS = Attention()
