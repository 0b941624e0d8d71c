"""Which data of a task is meant, as a value: what users choose, what a run's config records."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from daxy.core.settings import check_types
from daxy.core.split import Split
from daxy.tasks._task import Validation


@dataclass(frozen=True, kw_only=True)
class Data:
    """Which data of a task: the arguments of `Task.split`."""

    seed: int = 0
    """Seed of the draws: of the split where it is a draw, and of the validation set."""
    oversample: bool = True
    """Repeat the held-out primitive in train as the published split does."""
    validation: Validation = "draw"
    """How the validation set is carved from train."""
    validation_fraction: float = 0.1
    """The share of the training lines that the validation set aims at."""
    official: Path | None = None
    """Folder or .tar.xz of the official files, to load instead of generating."""

    def __post_init__(self) -> None:
        check_types(Data, vars(self))

    def load(self, task: str) -> Split:
        """Return the task's data.

        Raises:
            UnknownName: there is no such task.
            WrongRequest: an option that the task does not have.
            WrongFile: an official file is missing, or a line of it is wrong.
        """
        from daxy import tasks

        return tasks.get(task).split(
            seed=self.seed,
            oversample=self.oversample,
            validation=self.validation,
            validation_fraction=self.validation_fraction,
            official=self.official,
        )
