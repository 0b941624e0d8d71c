"""The arguments that say which data of a task is meant, shared by every verb that needs data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

if TYPE_CHECKING:
    from daxy.core.split import Split

TaskName = tyro.conf.Positional[Annotated[str, tyro.conf.arg(metavar="TASK")]]
"""A task as the first argument."""


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """Which data of a task: the arguments of `Task.split`."""

    seed: int = 0
    """Seed of the draws: of the split where it is a draw, and of the validation set."""
    oversample: bool = True
    """Have every training line once; published splits repeat the primitive."""
    validation: Literal["draw", "dab", "length", "none"] = "draw"
    """How the validation set is carved from train."""
    validation_fraction: float = 0.1
    """The share of the training lines that the validation set aims at."""
    official: Path | None = None
    """Folder or .tar.xz of the official files, to load instead of generating."""

    def load(self, task: str) -> Split:
        """Return the task's data.

        Raises:
            UnknownName: there is no such task.
            WrongRequest: an option that the task does not have.
            WrongFile: an official file is missing, or a line of it is wrong.
        """
        from daxy.api import load

        return load(
            task,
            seed=self.seed,
            oversample=self.oversample,
            validation=self.validation,
            validation_fraction=self.validation_fraction,
            official=self.official,
        )


Data = tyro.conf.OmitArgPrefixes[DataOptions]
"""The type of a verb's field that holds these options as flags of its own."""
