"""The arguments that say which data of a task is meant, shared by every verb that needs data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import tyro

from daxy.tasks import Data as TaskData

TaskName = tyro.conf.Positional[Annotated[str, tyro.conf.arg(metavar="TASK")]]
"""A task as the first argument."""


@dataclass(frozen=True, kw_only=True)
class DataOptions(TaskData):
    """Which data of a task: the fields of `daxy.tasks.Data`."""

    seed: Annotated[int, tyro.conf.arg(name="split-seed")] = 0
    """Seed of the draws: of the split where it is a draw, and of the validation set."""


Data = tyro.conf.OmitArgPrefixes[DataOptions]
"""The type of a verb's field that holds these options as flags of its own."""
