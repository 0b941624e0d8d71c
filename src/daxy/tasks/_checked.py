"""What `daxy verify` says of a file: how many examples agree with the rules of their task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from daxy.core.disagreement import Disagreement


class Count(NamedTuple):
    """How many examples are of some kind."""

    number: int
    label: str
    """The kind in words, after the number."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """The examples of a file, checked by the rules of a task."""

    checked_as: str
    """The task, or the benchmark where the rules are those of all its tasks."""
    parts: Mapping[str, int]
    """Number of examples of each part; a file of one part may have no name for it."""
    wrong: Sequence[Disagreement]
    counts: Mapping[str, Count]
    """What else is counted, by its name in JSON."""
    kind: str | None = None
    """The kind of split, where a benchmark has several in the same format."""
    note: str = ""
