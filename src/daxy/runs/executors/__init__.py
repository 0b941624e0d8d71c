"""Executors: where programs run. The folder is the registry.

An executor is a module with `check(**options)`, which refuses what cannot be had, and
`run(programs, store, monitor, **options)`, which yields each program once it has ended and its
finished runs lie in the store's folder: all of them, unless it failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from daxy.core.registry import Registry

if TYPE_CHECKING:
    from daxy.runs.programs import Program


class Executor(Protocol):
    """What a module of this folder has."""

    check: Callable[..., None]
    run: Callable[..., Iterator[Program]]


EXECUTORS: Registry[Executor] = Registry(__name__, ("check", "run"), "executor")
available, get = EXECUTORS.available, EXECUTORS.get
