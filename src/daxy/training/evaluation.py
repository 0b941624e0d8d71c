"""Evaluation during training: sets of examples and their scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from daxy.batching.table import Rows


@dataclass(frozen=True, slots=True)
class EvalResult:
    """Scores of one replica's outputs."""

    score: float
    """Score of all rows."""
    tests: dict[str, float] = field(default_factory=dict[str, float])
    """Score of each of several tests, by name."""


@dataclass(frozen=True, eq=False)
class EvalSet:
    """Examples on which replicas are evaluated while they train."""

    rows: Sequence[Rows]
    """Rows of the table, per replica; none without a set."""
    score_fn: Callable[[int, NDArray[np.uint16]], EvalResult]
    """score_fn(replica, greedy codes of its rows)."""
    every: int = 1
    """Epochs between two evaluations."""

    def rows_after(self, epoch: int, stopped: Sequence[bool]) -> list[Rows]:
        """Return each replica's rows to decode after an epoch, counted from 1; none if stopped."""
        is_due = epoch % self.every == 0
        pairs = zip(self.rows, stopped, strict=True)
        return [rows if is_due and not is_stopped else rows[:0] for rows, is_stopped in pairs]
