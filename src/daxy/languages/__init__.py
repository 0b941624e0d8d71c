"""Languages: one grammar with its meaning in each file. A registry.

To add one, write a file that exposes `LANGUAGE`, a `Language`. `daxy interpret` takes its name. A
task whose sources or targets are its sentences returns it as `Task.language`.
"""

from __future__ import annotations

from typing import Any

from daxy.core.registry import Registry
from daxy.languages._language import MOST_SHOWN, Language, Reading, Tree, node

__all__ = ["LANGUAGES", "MOST_SHOWN", "Language", "Reading", "Tree", "available", "get", "node"]

LANGUAGES: Registry[Language[Any]] = Registry(
    __name__, "LANGUAGE", "language", Language, without=("grounded", "spelling")
)
available, get = LANGUAGES.available, LANGUAGES.get
