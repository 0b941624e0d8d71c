"""The data that runs were trained on and asked about, for analyses that need more than is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from daxy import tasks
from daxy.core.errors import require
from daxy.core.split import Split
from daxy.report.analyses._analysis import Analysis
from daxy.runs.config import load
from daxy.runs.folder import RunFolder


@dataclass(frozen=True)
class OfData(Analysis):
    """An analysis that needs more of the data than is in the folders of runs."""

    official: Path | None = None
    """The official files that the runs were trained on; unless given, data is generated."""

    def on(self, official: Path) -> Self:
        """Return the same analysis, of runs on official files."""
        return replace(self, official=official)


def split_of(folder: RunFolder, official: Path | None = None) -> Split:
    """Return the data of a run, generated again, or of the official files that it is of.

    Raises:
        WrongRequest: it is not of that data.
        WrongFile: an official file is missing or damaged.
    """
    config = folder.config()
    source = config.data["source"]
    own = f"{folder.path} was trained on files of one's own, and no others can stand for them"
    require(source != "file", own)
    missing = f"{folder.path} was trained on official files; expected --official PATH"
    require(source != "official" or official is not None, missing)
    made = f"{folder.path} was trained on generated data; leave out --official"
    require(source == "official" or official is None, made)
    split = load(config.task, tasks.data(config.task, **config.choices, official=official))
    here = "is made for it here" if official is None else f"is in {official}"
    other = f"{folder.path} is a run on other data than {here}"
    require(split.provenance.checksum == folder.checksum, other)
    return split
