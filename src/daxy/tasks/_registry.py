"""Registry of benchmarks, which imports none of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from daxy.core.errors import UnknownName, quote
from daxy.core.registry import Registry

if TYPE_CHECKING:
    from daxy.tasks._task import Task


def _problem(benchmark: str, tasks: Mapping[str, object]) -> str:
    for name, task in tasks.items():
        is_own = name == benchmark or name.startswith(f"{benchmark}/")
        if getattr(task, "name", "") != name or not is_own:
            return f"its TASKS has {quote(name)}; expected tasks by their names, `{benchmark}/...`"
    return ""


BENCHMARKS: Registry[Mapping[str, Task[Any]]] = Registry(
    "daxy.tasks", "TASKS", "benchmark", Mapping, problem=_problem
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
