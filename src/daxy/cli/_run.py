"""Run folders as arguments of a verb."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from daxy.cli._table import say
from daxy.core.errors import require

if TYPE_CHECKING:
    from daxy.runs.folder import RunFolder
    from daxy.tasks import Data


def check_folder(path: Path) -> None:
    """Refuse the path of a run that is no folder.

    Raises:
        WrongRequest: it is a file, or does not exist.
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
        check_folder(path)
    for path in files:
        say(f"note: {path} is a file, not the folder of a run; left out")
    return folders


def finished(path: Path) -> RunFolder:
    """Return the folder of a finished run.

    Raises:
        WrongRequest: the run is not finished, or there is no such folder.
        RunFailed: the folder is damaged.
    """
    from daxy.runs.folder import RunFolder

    check_folder(path)
    folder = RunFolder(path)
    require(folder.is_done(), f"{path}: no finished run")
    return folder


def data_of(folder: RunFolder, task: str, data: Data) -> Data:
    """Return the data for a run's predictor: the run's own, unless flags choose other data.

    Files of the user have to be named again. A note on stderr tells of a run on another task.
    """
    from daxy import tasks

    config = folder.config()
    if config.task != task:
        say(f"note: {folder.path} is a run on {config.task}; here it is asked about {task}")
        return data
    chosen = data.origin != "generated" or data.choices != type(data)().choices
    if chosen or config.data["source"] != "generated":
        # The run has a validation set from train, where the flags default to the published data.
        return data.for_training(str(config.choices.get("validation", "draw")))
    return tasks.data(task, **config.choices)
