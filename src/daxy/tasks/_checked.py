"""Result of `daxy verify`: how many examples agree with the rules of their task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from daxy.core.disagreement import Disagreement


class Count(NamedTuple):
    """Number of examples of some kind."""

    number: int
    label: str
    """The kind in words, after the number."""


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """Result of checking examples by the rules of a task."""

    checked_as: str
    """The task, or the benchmark where the rules are those of all its tasks."""
    parts: Mapping[str, int]
    """Number of examples of each part; the name is empty in a file that names no part."""
    wrong: Sequence[Disagreement]
    counts: Mapping[str, Count]
    """Other counts by their names in JSON."""
    kind: str | None = None
    """The kind of split, where a benchmark has several in the same format."""
    note: str = ""
