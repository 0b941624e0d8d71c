"""The data side in Python: load a split, score predictions. No machine-learning framework."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from daxy import tasks
from daxy.core.files import usable
from daxy.core.settings import check_types
from daxy.core.split import Split
from daxy.tasks import Choices


def load(
    task: str, *, seed: int = 0, official: Path | str | None = None, **choices: Unpack[Choices]
) -> Split:
    """Return the data of a task, as `daxy.load("scan/addprim_jump", oversample=False)`.

    The split is whole, as published. It has a validation set if the benchmark publishes one;
    otherwise `validation="draw"` carves one from train, as `daxy train` does.

    Args:
        task: The task's name.
        seed: Seed of a random split, and of the validation set.
        official: Official files, to load instead of generating.
        choices: Other options of the data; `daxy show TASK --help` lists them.

    Raises:
        UnknownName: there is no such task, or it has no such choice.
        WrongRequest: a choice that does not go with the task, or has a wrong value.
        WrongFile: an official file is missing, or a line of it is wrong.
    """
    check_types(load, {"task": task, "official": official})
    files = None if official is None else usable(Path(official))
    return tasks.data(task, seed=seed, official=files, **choices).load(task)
