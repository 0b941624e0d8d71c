"""Folders of runs that a verb is given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from daxy.cli._table import say
from daxy.core.errors import require

if TYPE_CHECKING:
    from daxy.runs.folder import RunFolder
    from daxy.tasks import DatasetOptions


def check_there(path: Path) -> None:
    """Refuse the folder of a run that is none.

    Raises:
        WrongRequest: so it is.
    """
    require(not path.is_file(), f"{path} is a file; expected the folder of a run")
    require(
        path.is_dir(), f"{path}: no such folder; expected that of a run, as `daxy train` names it"
    )


def run_folders(paths: Sequence[Path]) -> list[Path]:
    """Return the folders among several paths. A note on stderr names each file among them.

    `runs/*` also matches the picture of `daxy demo`.

    Raises:
        WrongRequest: all paths are files, or a path does not exist.
    """
    files = [path for path in paths if path.is_file()]
    folders = [path for path in paths if path not in files]
    for path in folders or paths:
        check_there(path)
    for path in files:
        say(f"note: {path} is a file, not the folder of a run; left out")
    return folders


def finished(path: Path) -> RunFolder:
    """Return the folder of a finished run.

    Raises:
        WrongRequest: there is none.
        RunFailed: it is damaged.
    """
    from daxy.runs.folder import RunFolder

    check_there(path)
    folder = RunFolder(path)
    require(folder.is_done(), f"{path}: no finished run")
    return folder


def data_of(folder: RunFolder, task: str, data: DatasetOptions) -> DatasetOptions:
    """Return the data that a verb is to take: the run's own, where no other of its task is chosen.

    What a run has of one's own files has to be given again. Where the run is of another task, a
    note on stderr says so.
    """
    from daxy import tasks

    config = folder.config()
    if config.task != task:
        say(f"note: {folder.path} is a run on {config.task}; here it is asked about {task}")
    chosen = data.origin != "generated" or data.choices != type(data)().choices
    if config.task != task:
        return data
    if chosen or config.data["source"] != "generated":
        # Data is as published unless chosen otherwise, and the run has carved its validation set.
        return data.for_training(str(config.choices.get("validation", "draw")))
    return tasks.data(task, **config.choices)
