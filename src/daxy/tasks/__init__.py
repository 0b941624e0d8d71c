"""Tasks: one benchmark a file. The folder is the registry.

To add a benchmark, add a file that exposes `TASKS`, its tasks by name; each name starts with the
file's, as `scan/length` does in `scan.py`. The laws in tests/laws pick the new tasks up.
"""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from daxy.core.settings import from_dict
from daxy.tasks._choices import Choices
from daxy.tasks._dataset_options import DatasetOptions
from daxy.tasks._files import OfficialFiles
from daxy.tasks._files_task import FilesTask
from daxy.tasks._registry import BENCHMARKS, available, exists, get
from daxy.tasks._scan_options import ScanOptions
from daxy.tasks._task import Task, in_one_line, typical

__all__ = [
    "BENCHMARKS",
    "Choices",
    "DatasetOptions",
    "FilesTask",
    "OfficialFiles",
    "ScanOptions",
    "Task",
    "available",
    "data",
    "exists",
    "get",
    "in_one_line",
    "typical",
]


def data(
    task: str, *, seed: int = 0, official: Path | None = None, **choices: Unpack[Choices]
) -> DatasetOptions:
    """Return the options of a task's data: these, and the published ones for the rest.

    Raises:
        UnknownName: there is no such task, or it has no such option.
        WrongRequest: an option has a wrong value.
    """
    options = {"seed": seed, "official": official, **choices}
    return from_dict(get(task).options, options, of=f"the data of {task}")
