"""Base class of trackers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Setting: TypeAlias = bool | int | float | str


@dataclass(frozen=True, kw_only=True)
class TrackedRun:
    """One run, as its tracker shows it."""

    name: str
    group: str
    """Name that the runs of all seeds share."""
    settings: Mapping[str, Setting]
    """Task, data options, learner settings and seed, by their paths in `config.json`."""
    folder: Path
    """The run folder; a tracker may write files into a folder of its own name there."""
    id: str = ""
    """`Tracker.id` of an interrupted process; empty for a new run."""


class Tracker(ABC):
    """The log of one run in another program.

    A resumed run logs its steps from the first one again. The program must have each step once.

    Args:
        run: The run, to begin or to continue.
    """

    id: str
    """The program's name of the run."""

    @abstractmethod
    def __init__(self, run: TrackedRun) -> None: ...

    @abstractmethod
    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Log values after so many training steps, unless the program has that step."""

    @abstractmethod
    def finish(self, step: int, scores: Mapping[str, float]) -> None:
        """Log the final scores, and end the run."""

    @abstractmethod
    def close(self) -> None:
        """Leave the run unfinished: it was interrupted or diverged."""
