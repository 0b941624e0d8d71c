"""Run folders as arguments of a verb."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from daxy.cli._flags import flag
from daxy.cli._table import say
from daxy.core.display import counted
from daxy.core.errors import require

if TYPE_CHECKING:
    from daxy.core.split import Split
    from daxy.runs.folder import RunFolder
    from daxy.tasks import DatasetOptions

FILE_FLAGS = {"official": "--official PATH", "file": "--pairs FILE"}
"""Flags that name files of the user, by the source of the data."""


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
    """Return the folders of finished runs among several paths; notes on stderr name the others.

    `runs/*` also matches interrupted runs, and the picture of `daxy demo`. Where no run is
    finished, the folders of all are returned.

    Raises:
        WrongRequest: all paths are files, or a path does not exist.
    """
    from daxy.runs.folder import RunFolder

    files = [path for path in paths if path.is_file()]
    folders = [path for path in paths if path not in files]
    for path in folders or paths:
        check_folder(path)
    for path in files:
        say(f"note: {path} is a file, not the folder of a run; left out")
    unfinished = [path for path in folders if RunFolder(path).has_begun]
    if not unfinished or len(unfinished) == len(folders):
        return folders
    named = ", ".join(map(str, unfinished))
    say(
        f"note: {len(unfinished)} of {counted(len(folders), 'run')} not finished; left out: {named}"
    )
    return [path for path in folders if path not in unfinished]


def finished(path: Path) -> RunFolder:
    """Return the folder of a finished run.

    Raises:
        WrongRequest: the run is not finished, or there is no such folder.
        RunFailed: the folder is damaged.
    """
    from daxy.runs.folder import RunFolder

    check_folder(path)
    folder = RunFolder(path)
    require(folder.is_done(), folder.unfinished)
    return folder


def data_of(folder: RunFolder, task: str, data: DatasetOptions) -> DatasetOptions:
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


def check_same_data(folder: RunFolder, split: Split, data: DatasetOptions) -> None:
    """Refuse data other than the run's own.

    Raises:
        WrongRequest: names the flags of the run's data.
    """
    config = folder.config()
    differing = {
        name: value
        for name, value in config.choices.items()
        if data.choices.get(name, value) != value
    }
    # A run records the content of a file of the user, and not its name.
    files = ["--grammar FILE"] if differing.pop("grammar", None) else []
    source = config.data["source"]
    if source != data.origin and source in FILE_FLAGS:
        differing.pop("sentences", None)
        files.append(FILE_FLAGS[source])
    flags = [*files, *(flag(name, value) for name, value in differing.items())]
    expected = " ".join(flags) or "the same files"
    other = f"{folder.path} is a run on another choice of {split.provenance.task}'s data"
    is_same = folder.checksum == split.provenance.checksum
    require(is_same, f"{other}; expected {expected}")
