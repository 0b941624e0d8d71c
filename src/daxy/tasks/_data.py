"""Which data of a task is meant, as a value: what users choose, what a run's config records."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from daxy.core.errors import require
from daxy.core.settings import check_types
from daxy.core.split import Split

Validation = Literal["draw", "dab", "length", "none"]
"""How the validation set comes about; see `daxy.tasks._validation`."""


@dataclass(frozen=True, kw_only=True)
class Data:
    """Which data of a task; not every task has every choice."""

    seed: int = 0
    """Seed of the draws: of the split where it is a draw, and of the validation set."""
    oversample: bool = True
    """Repeat the held-out primitive in train as the published split does."""
    validation: Validation = "draw"
    """How the validation set is carved from train: a draw from its lines, composed commands of the
    proxy primitive `dab`, its longest lines (`length`), or not at all (`none`)."""
    validation_fraction: float = 0.1
    """The share of the training lines that the validation set aims at."""
    official: Path | None = None
    """Folder or .tar.xz of the official files, to load instead of generating."""

    def __post_init__(self) -> None:
        check_types(Data, vars(self))
        fraction = self.validation_fraction
        require(0 < fraction < 1, f"validation fraction must be between 0 and 1, not {fraction:g}")

    def load(self, task: str) -> Split:
        """Return the task's data.

        Raises:
            UnknownName: there is no such task.
            WrongRequest: an option that the task does not have.
            WrongFile: an official file is missing, or a line of it is wrong.
        """
        from daxy import tasks

        return tasks.get(task).split(self)


DEFAULT = Data()
