"""Executors: where programs run. The folder is the registry.

An executor is a module with `check(**options)`, which refuses what cannot be had, and
`run(programs, store, monitor, **options)`, which yields each program once it has ended and its
finished runs lie in the store's folder: all of them, unless it failed.
"""

from __future__ import annotations

from typing import Any

from daxy.core import registry


def available() -> list[str]:
    """Return the names of all executors."""
    return registry.entries(__name__)


def get(name: str) -> Any:
    """Return an executor.

    Raises:
        UnknownName: there is no such executor.
    """
    return registry.load(__name__, name, kind="executor")
