"""Accuracy by tokens in the target and in the source (Lake & Baroni 2018, Fig. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from daxy.core.errors import require
from daxy.report.analyses._analysis import Findings, Row
from daxy.report.analyses._data import OfData
from daxy.report.analyses._grounded import asked
from daxy.report.analyses._judged import Judged, judged
from daxy.runs.folder import RunFolder


@final
class ByLength(OfData):
    """How accuracy depends on the length of what is asked and of what is to be said."""

    name = "by_length"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return a row for each length that occurs in the test set, or in some tests by name."""
        needless = f"{self.name} reads official files for --test alone; leave out --official"
        require(bool(of) or self.official is None, needless)
        found = asked(folders, of, self.official).found if of else judged(folders)
        return by_length(found)


def by_length(found: Judged) -> Findings:
    """Return a row for each length that occurs."""
    rows = list[Row]()
    for group, sequences in (("target", found.targets), ("source", found.sources)):
        lengths = sequences.lengths
        for length in np.unique(lengths).tolist():
            rows.append(found.row(f"tokens in the {group}", str(length), lengths == length))
    return Findings(title=f"{found.task} by length", rows=tuple(rows))


ANALYSIS = ByLength()
