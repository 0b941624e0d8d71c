"""Accuracy by construction of the command (Lake & Baroni 2018, Experiment 3).

The paper looks at a network's errors on `turn left`: all are conjunctions with `turn left` or
`turn left thrice` as a part. So commands are grouped by the words that they are built with, and by
each of the simple commands that they are, or join by `and` or `after`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from daxy import tasks
from daxy.core.errors import WrongRequest
from daxy.languages import Language
from daxy.report.analysis import Analysis, AnalysisResult, Row
from daxy.report.correctness import Correctness, correctness
from daxy.runs.folder import RunFolder
from daxy.tasks import Task

SIMPLE = "no conjunction"
MAX_PARTS = 20
"""Maximum number of parts that are shown: those with most errors."""


@final
class ByConstruction(Analysis):
    """Which constructions, and which parts of conjunctions, networks get wrong."""

    name = "by_construction"

    def run(self, folders: Sequence[RunFolder], selection: Sequence[str] = ()) -> AnalysisResult:
        """Return a row for each construction, and for the parts with most errors."""
        self.refuse_selection(selection)
        results = correctness(folders)
        self.refuse_worlds(results.task)
        structures = structures_of(results)
        all_parts = sorted(set().union(*(it.parts for it in structures)))
        parts = {part: [part in it.parts for it in structures] for part in all_parts}
        most_errors = sorted(_rows(results, "has the part", parts), key=_errors, reverse=True)
        rows = (*constructions(results, structures), *most_errors[:MAX_PARTS])
        return AnalysisResult(title=f"{results.task} by construction", rows=rows)


def constructions(results: Correctness, structures: Sequence[Structure] | None = None) -> list[Row]:
    """Return a row for each word that constructs commands, and for commands without conjunction.

    Args:
        results: Correctness of some examples.
        structures: Structure of each command, if known.

    Raises:
        WrongRequest: see `structures_of`.
    """
    known = structures_of(results) if structures is None else structures
    words = _language(tasks.get(results.task)).constructions
    masks = {word: [word in it.words for it in known] for word in words}
    masks[SIMPLE] = [len(it.parts) == 1 for it in known]
    return _rows(results, "built with", masks)


@dataclass(frozen=True, slots=True)
class Structure:
    """Structure of a command."""

    words: frozenset[str]
    parts: tuple[str, ...]
    """Commands that a conjunction joins, or the command itself."""


def structures_of(results: Correctness) -> list[Structure]:
    """Return the structure of each command: of the targets if the task is mirrored, as NACS is.

    Raises:
        WrongRequest: the language of the task has no constructions, or does not have a command.
    """
    task = tasks.get(results.task)
    language, sentences = _language(task), results.targets if task.is_mirrored else results.sources
    try:
        phrases = [language.parse(words) for words in sentences]
    except WrongRequest as error:
        raise WrongRequest(f"{task.name}: {error}") from error
    parts = [[" ".join(language.say(part)) for part in language.parts(it)] for it in phrases]
    return [
        Structure(frozenset(words), tuple(own)) for words, own in zip(sentences, parts, strict=True)
    ]


def _language(task: Task[Any]) -> Language[Any]:
    if task.language is None or not task.language.constructions:
        raise WrongRequest(f"{task.name} is not about commands that are built of others")
    return task.language


def _rows(results: Correctness, group: str, masks: dict[str, list[bool]]) -> list[Row]:
    """Return a row for each mask that has an example."""
    return [results.row(group, name, np.array(it)) for name, it in masks.items() if any(it)]


def _errors(row: Row) -> float:
    """Return the mean number of errors over runs."""
    return (row.examples or 0) * (100 - row.value.mean)


ANALYSIS = ByConstruction()
