"""Tasks: one benchmark a file. The folder is the registry.

To add a benchmark, add a file that exposes `TASKS`, its tasks by name; each name starts with the
file's, as `scan/length` does in `scan.py`. The laws in tests/laws pick the new tasks up.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

from daxy.core import registry
from daxy.core.errors import UnknownName
from daxy.core.settings import made
from daxy.tasks._choices import Choices
from daxy.tasks._data import Data
from daxy.tasks._scan_data import ScanData
from daxy.tasks._task import Task, in_one_line, typical

__all__ = [
    "Choices",
    "Data",
    "ScanData",
    "Task",
    "available",
    "data",
    "get",
    "in_one_line",
    "typical",
]


def available() -> list[str]:
    """Return the names of all tasks, benchmark by benchmark, in the order of their files."""
    return [name for module in registry.entries(__name__) for name in _tasks(module)]


def get(name: str) -> Task[Any]:
    """Return a task.

    Raises:
        UnknownName: there is no such task.
    """
    benchmark = name.partition("/")[0]
    known = _tasks(benchmark) if benchmark in registry.entries(__name__) else {}
    if name not in known:
        raise UnknownName("task", name, available())
    return known[name]


def data(
    task: str, *, seed: int = 0, official: Path | None = None, **choices: Unpack[Choices]
) -> Data:
    """Return the choice of a task's data with these options, the rest as published.

    Raises:
        UnknownName: there is no such task, or it has no such option.
        WrongRequest: an option has a wrong value.
    """
    options = {"seed": seed, "official": official, **choices}
    return made(get(task).options, options, of=f"the data of {task}")


def _tasks(module: str) -> dict[str, Task[Any]]:
    return registry.load(__name__, module, "TASKS", kind="benchmark").TASKS
