"""gSCAN: whether networks attend to the target (Ruis et al. 2020, section 5).

An error of a network that attends to the right thing is one of saying what to do; of one that does
not, one of finding what is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Sequences
from daxy.core.random import stream
from daxy.core.summary import Summary
from daxy.report.analyses._analysis import Findings, Row
from daxy.report.analyses._data import OfData
from daxy.report.analyses._grounded import Asked, asked_in_worlds
from daxy.runs.folder import RunFolder
from daxy.runs.saved import load_network

Rows = NDArray[np.int64]
MOST = 2_000
"""Examples of a test that are looked at, drawn: each has to be said again, token by token."""


@final
class Attention(OfData):
    """How often the cell that is attended to most, over all steps, is the target's."""

    name = "attention"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return shares of all, right and wrong episodes, of a draw of each test."""
        found = asked_in_worlds(folders, of, self.official)
        chosen = {test: _drawn(found, test) for test in found.tests}
        every = np.concatenate(list(chosen.values()))
        finds = np.zeros((len(folders), len(found.test)), np.bool_)
        for run, (folder, said) in enumerate(zip(folders, found.predictions, strict=True)):
            finds[run, every] = _finds(found, every, folder, said)
        rows = [row for test, own in chosen.items() for row in _rows(found, test, own, finds)]
        return Findings(
            title=f"{found.found.task}: attends to the target most, in",
            rows=tuple(rows),
            measure="attends (%)",
        )


def _drawn(found: Asked, test: str) -> Rows:
    rows = np.flatnonzero(found.test == test)
    return np.sort(stream(0, f"attention, {test}").permutation(rows)[:MOST])


def _finds(found: Asked, rows: Rows, folder: RunFolder, said: Sequences) -> NDArray[np.bool_]:
    """Return in which of these examples a run's network attends to the target most."""
    sources, worlds = found.examples.source.take(rows), found.shown.worlds.take(rows)
    targets = worlds.target_cells.astype(np.int64)
    wanted = targets @ [int(worlds.size.max()), 1]
    looks = load_network(folder.path).attended(sources, said.take(rows), worlds)
    return looks.argmax(axis=1) == wanted


def _rows(found: Asked, test: str, rows: Rows, finds: NDArray[np.bool_]) -> Iterator[Row]:
    """Yield a row for all, right and wrong episodes, of those that every run has some of."""
    right = found.found.right[:, rows]
    for name, kind in (("all episodes", right | True), ("right ones", right), ("errors", ~right)):
        if kind.any(axis=1).all():
            pairs = zip(finds[:, rows], kind, strict=True)
            yield Row(
                group=test,
                name=name,
                examples=round(float(kind.sum(axis=1).mean())),
                value=Summary(runs=tuple(100 * float(own[is_it].mean()) for own, is_it in pairs)),
            )


ANALYSIS = Attention()
