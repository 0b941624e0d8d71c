"""Tasks: one benchmark a file. The folder is the registry.

To add a benchmark, add a file that exposes `TASKS`, its tasks by name; each name starts with the
file's, as `scan/length` does in `scan.py`. The laws in tests/laws pick the new tasks up.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from daxy.core.errors import UnknownName, quote
from daxy.core.registry import Registry
from daxy.core.settings import from_dict
from daxy.tasks._choices import Choices
from daxy.tasks._dataset_options import DatasetOptions
from daxy.tasks._files import OfficialFiles
from daxy.tasks._files_task import FilesTask
from daxy.tasks._scan_options import ScanOptions
from daxy.tasks._task import Task, in_one_line, typical

__all__ = [
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


def _problem(benchmark: str, tasks: Mapping[str, object]) -> str:
    for name, task in tasks.items():
        is_own = name == benchmark or name.startswith(f"{benchmark}/")
        if not isinstance(task, Task) or task.name != name or not is_own:
            return f"its TASKS has {quote(name)}; expected tasks by their names, `{benchmark}/...`"
    return ""


BENCHMARKS: Registry[Mapping[str, Task[Any]]] = Registry(
    __name__, "TASKS", "benchmark", Mapping, problem=_problem
)


def available() -> list[str]:
    """Return the names of all tasks, benchmark by benchmark, in the order of their files."""
    return [name for tasks in BENCHMARKS.loaded().values() for name in tasks]


def exists(name: str) -> bool:
    """Whether there is a task of this name."""
    benchmark = name.partition("/")[0]
    return benchmark in BENCHMARKS and name in BENCHMARKS.get(benchmark)


def get(name: str) -> Task[Any]:
    """Return a task.

    Raises:
        UnknownName: there is no such task.
    """
    if not exists(name):
        raise UnknownName("task", name, available())
    return BENCHMARKS.get(name.partition("/")[0])[name]


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
