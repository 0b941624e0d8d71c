"""gSCAN: accuracy by the phrase for the target, beside chance (Ruis et al. 2020, T. 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import final

import numpy as np

from daxy.languages import grounded
from daxy.report.analyses._analysis import Findings, Row
from daxy.report.analyses._data import OfData
from daxy.report.analyses._grounded import Asked, asked_in_worlds
from daxy.runs.folder import RunFolder


@final
class ByReferent(OfData):
    """Which phrases networks find the target by, test by test.

    Chance is to choose any thing in the world and to do with it what is said.
    """

    name = "by_referent"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return a row for each phrase in each test, or in some tests by name."""
        found = asked_in_worlds(folders, of, self.official)
        rows = [row for test in found.tests for row in _rows(found, test)]
        return Findings(title=f"{found.found.task} by referent", rows=tuple(rows))


def _rows(found: Asked, test: str) -> Iterator[Row]:
    phrases = [str(command.phrase).removeprefix("a ") for command in grounded.commands()]
    order = list(dict.fromkeys(phrases))
    is_here = found.test == test
    said = np.where(is_here, np.array(phrases)[found.shown.command], "")
    things = np.diff(found.shown.worlds.offsets)
    for row in found.by(test, said, order):
        chance = 100 * float((1 / things[said == row.name]).mean())
        yield replace(row, chance=chance)


ANALYSIS = ByReferent()
