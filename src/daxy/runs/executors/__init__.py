"""Registry of executors, which run programs on this machine or a cluster: one module each.

An executor has `check(**options)`, which raises an error if the resources are not available, and
`run(programs, store, monitor, **options)`, which yields each program when it ends. The finished
runs of the program are then in the store's folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from daxy.core.registry import Registry

if TYPE_CHECKING:
    from daxy.runs.programs import Program


class Executor(Protocol):
    """Interface of an executor module."""

    check: Callable[..., None]
    run: Callable[..., Iterator[Program]]


EXECUTORS: Registry[Executor] = Registry(__name__, ("check", "run"), "executor")
available, get = EXECUTORS.available, EXECUTORS.get
