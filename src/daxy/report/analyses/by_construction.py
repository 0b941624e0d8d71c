"""Accuracy by construction of the command (Lake & Baroni 2018, Experiment 3).

The paper looks at the errors of a network on `turn left`: all of them are conjunctions of which one
part is `turn left` or `turn left thrice`. So commands are grouped by the words that they are built
with, and by each of the simple commands that they are, or join by `and` or `after`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from daxy import tasks
from daxy.core.errors import WrongRequest
from daxy.languages import Language
from daxy.report.analyses._analysis import Analysis, Findings, Row
from daxy.report.analyses._judged import Judged, judged
from daxy.runs.folder import RunFolder
from daxy.tasks import Task

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
        built = commands(found)
        rows = list[Row]()
        for word in _language(tasks.get(found.task)).constructions:
            rows += _row(found, "built with", word, np.array([word in it.words for it in built]))
        rows += _row(found, "built with", SIMPLE, ~np.array([it.is_joined for it in built]))
        parts = [it.parts for it in built]
        every = sorted(set().union(*parts))
        of_parts = [
            row
            for part in every
            for row in _row(found, "has the part", part, np.array([part in own for own in parts]))
        ]
        rows += sorted(of_parts, key=_errors, reverse=True)[:SHOWN]
        return Findings(title=f"{found.task} by construction", rows=tuple(rows))


@dataclass(frozen=True, slots=True)
class Built:
    """What a command is built of."""

    words: frozenset[str]
    parts: frozenset[str]
    """The commands that a conjunction joins, or the command itself."""
    is_joined: bool


def commands(found: Judged) -> list[Built]:
    """Return the commands of a test set: the targets where a task is mirrored, as NACS is.

    Raises:
        WrongRequest: the language of the task has no constructions, or a command is not of it.
    """
    task = tasks.get(found.task)
    language, sentences = _language(task), found.targets if task.is_mirrored else found.sources
    try:
        phrases = [language.parse(words) for words in sentences]
    except WrongRequest as error:
        raise WrongRequest(f"{task.name}: {error}") from error
    joined = [[" ".join(language.say(part)) for part in language.parts(it)] for it in phrases]
    return [
        Built(frozenset(words), frozenset(parts), len(parts) > 1)
        for words, parts in zip(sentences, joined, strict=True)
    ]


def _language(task: Task[Any]) -> Language[Any]:
    if task.language is None or not task.language.constructions:
        raise WrongRequest(f"{task.name} is not about commands that are built of others")
    return task.language


def _row(found: Judged, group: str, name: str, chosen: np.ndarray) -> list[Row]:
    """Return the row of a group of commands; none if no command is in it."""
    return [found.row(group, name, chosen)] if chosen.any() else []


def _errors(row: Row) -> float:
    """Return how many errors a run has there, in the mean."""
    return (row.examples or 0) * (100 - row.value.mean)


ANALYSIS = ByConstruction()
