"""Accuracy by construction of the command (Lake & Baroni 2018, Experiment 3).

The paper looks at the errors of a network on `turn left`: all of them are conjunctions of which one
part is `turn left` or `turn left thrice`. So commands are grouped by the words that they are built
with, and by each of the simple commands that they are, or join by `and` or `after`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

import numpy as np

from daxy.core.errors import WrongRequest
from daxy.core.examples import Tokens
from daxy.languages.scan import SCAN, After, And, Command, NotACommand, say
from daxy.report.analyses._analysis import Analysis, Findings, Judged, Row, judged
from daxy.runs.folder import RunFolder

WORDS = ("and", "after", "twice", "thrice", "around", "opposite", "turn")
"""What a command can be built with, in the order in which it is shown."""
SIMPLE = "no conjunction"
SHOWN = 20
"""Parts that are shown: those that most errors have."""


@final
class ByConstruction(Analysis):
    """Which constructions, and which parts of conjunctions, networks get wrong."""

    name = "by_construction"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return a row for each construction, and for the parts with most errors."""
        self.refuse(of)
        found = judged(folders)
        self.refuse_worlds(found.task)
        trees = commands(found)
        rows = list[Row]()
        built = [set(say(command)) for command in trees]
        joined = [isinstance(command, And | After) for command in trees]
        for word in WORDS:
            rows += _row(found, "built with", word, np.array([word in own for own in built]))
        rows += _row(found, "built with", SIMPLE, ~np.array(joined))
        parts = [set(map(" ".join, simple_commands(command))) for command in trees]
        every = sorted(set().union(*parts))
        of_parts = [
            row
            for part in every
            for row in _row(found, "has the part", part, np.array([part in own for own in parts]))
        ]
        rows += sorted(of_parts, key=_errors, reverse=True)[:SHOWN]
        return Findings(title=f"{found.task} by construction", rows=tuple(rows))


def commands(found: Judged) -> list[Command]:
    """Return the commands of a test set: the sources of SCAN, the targets of NACS.

    Raises:
        WrongRequest: it has others.
    """
    sequences = found.targets if found.task.startswith("nacs/") else found.sources
    try:
        return [SCAN.parse(words) for words in sequences]
    except NotACommand as error:
        raise WrongRequest(f"{found.task} is not about SCAN's commands: {error}") from error


def simple_commands(command: Command) -> Iterator[Tokens]:
    """Yield a command, or the two that it joins by `and` or `after`."""
    sentences = (command.first, command.second) if isinstance(command, And | After) else (command,)
    return map(say, sentences)


def _row(found: Judged, group: str, name: str, chosen: np.ndarray) -> list[Row]:
    """Return the row of a group of commands; none if no command is in it."""
    return [found.row(group, name, chosen)] if chosen.any() else []


def _errors(row: Row) -> float:
    """Return how many errors a run has there, in the mean."""
    return (row.examples or 0) * (100 - row.value.mean)


ANALYSIS = ByConstruction()
