"""A laboratory for systematic generalization.

    import daxy

    split = daxy.load("scan/addprim_jump")
    print(split.train[0].source, split.test[0].target)
    print(daxy.score("scan/addprim_jump", "predictions.jsonl").accuracy)

Importing this imports nothing else: each name below is loaded when it is first asked for.
"""

from __future__ import annotations

import importlib

from daxy.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` would be most of what importing this takes
    from typing import Any

    from daxy import tasks
    from daxy.api import load, pairs
    from daxy.core.errors import DaxyWarning
    from daxy.core.examples import Example, Examples
    from daxy.core.split import Split
    from daxy.report.tables import table
    from daxy.reproduction.trained import Trained, train
    from daxy.scoring import Scored, score
    from daxy.tasks import DatasetOptions, data

__all__ = [
    "DatasetOptions",
    "DaxyWarning",
    "Example",
    "Examples",
    "Scored",
    "Split",
    "Trained",
    "__version__",
    "data",
    "load",
    "pairs",
    "score",
    "table",
    "tasks",
    "train",
]

_HOMES = {
    "DatasetOptions": "daxy.tasks",
    "DaxyWarning": "daxy.core.errors",
    "Example": "daxy.core.examples",
    "Examples": "daxy.core.examples",
    "Scored": "daxy.scoring",
    "Split": "daxy.core.split",
    "Trained": "daxy.reproduction.trained",
    "data": "daxy.tasks",
    "load": "daxy.api",
    "pairs": "daxy.api",
    "score": "daxy.scoring",
    "table": "daxy.report.tables",
    "train": "daxy.reproduction.trained",
}


def __getattr__(name: str) -> Any:
    if name == "tasks":
        return importlib.import_module("daxy.tasks")
    if name not in _HOMES:
        raise AttributeError(f"module 'daxy' has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_HOMES[name]), name)
    except Exception as error:
        from daxy.core.imports import import_failure

        if failure := import_failure(error):
            raise failure from error
        raise


def __dir__() -> list[str]:
    return __all__
