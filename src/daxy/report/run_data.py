"""The data of a finished run, for analyses that need more than its folder holds."""

from __future__ import annotations

from pathlib import Path

from daxy.core.errors import require
from daxy.core.split import Split
from daxy.runs.config import load
from daxy.runs.folder import RunFolder
from daxy.runs.run import data_of


def split_of(folder: RunFolder, official: Path | None = None) -> Split:
    """Return the data of a run, generated again or from official files.

    Raises:
        WrongRequest: the run was trained on other data.
        WrongFile: an official file is missing or damaged.
    """
    config = folder.config()
    source = config.data["source"]
    user_files = (
        f"{folder.path} was trained on files of one's own, and no others can stand for them"
    )
    require(source != "file", user_files)
    missing = f"{folder.path} was trained on official files; expected --official PATH"
    require(source != "official" or official is not None, missing)
    generated = f"{folder.path} was trained on generated data; leave out --official"
    require(source == "official" or official is None, generated)
    files = folder.environment().get("files", {}) if source == "files" else {}
    located = {"official": official} if source == "official" else files
    split = load(config.task, data_of(config, located))
    here = "is made for it here" if official is None else f"is in {official}"
    other = f"{folder.path} is a run on other data than {here}"
    require(split.provenance.checksum == folder.checksum, other)
    return split
