"""gSCAN: accuracy by test, verb, manner, direction and distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from daxy.languages import grounded
from daxy.languages.grounded import MANNERS, VERBS
from daxy.report.analyses._analysis import Findings
from daxy.report.analyses._data import OfData
from daxy.report.analyses._grounded import asked_in_worlds
from daxy.runs.folder import RunFolder
from daxy.worlds.placement import DIRECTIONS

PLAIN = "no manner"


@final
class BySituation(OfData):
    """Accuracy by test, verb, manner, and the way from the agent to the target."""

    name = "by_situation"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return a row for each value of each of these, over all tests or some by name."""
        found = asked_in_worlds(folders, of, self.official)
        shown, commands = found.shown, grounded.commands()
        verbs = np.array([command.verb for command in commands])[shown.command]
        manners = np.array([command.manner or PLAIN for command in commands])[shown.command]
        directions = np.array(list(DIRECTIONS))[shown.directions]
        distances = np.abs(shown.target_offsets).sum(axis=1)
        cells = [str(each) for each in np.unique(distances).tolist()]
        rows = (
            *found.by("test", found.test, found.tests),
            *found.by("verb", verbs, VERBS),
            *found.by("manner", manners, (PLAIN, *MANNERS)),
            *found.by("direction of the target", directions, list(DIRECTIONS)),
            *found.by("cells to the target", distances.astype(str), cells),
        )
        return Findings(title=f"{found.found.task} by situation", rows=rows)


ANALYSIS = BySituation()
