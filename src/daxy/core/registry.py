"""A folder is a registry: its modules are the entries, found by listing, loaded when asked for."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
from functools import cache
from pathlib import Path
from types import ModuleType

from daxy.core.errors import UnknownName


def entries(package: str) -> list[str]:
    """Return the public module names of a package, sorted, importing none; no folders."""
    return [*_listed(package)]


@cache
def _listed(package: str) -> tuple[str, ...]:
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations is not None, package
    found = pkgutil.iter_modules(list(spec.submodule_search_locations))
    return tuple(sorted(m.name for m in found if not m.ispkg and not m.name.startswith("_")))


def summary(package: str, name: str) -> str:
    """Return the first line of an entry's docstring, without its full stop, importing nothing."""
    spec = importlib.util.find_spec(f"{package}.{name}")
    assert spec is not None and spec.origin is not None, name
    said = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
    return said.partition("\n")[0].rstrip(".")


def load(package: str, name: str, *, kind: str) -> ModuleType:
    """Import one entry.

    Raises:
        UnknownName: the folder has no such module.
    """
    if name not in (known := entries(package)):
        raise UnknownName(kind, name, known)
    return importlib.import_module(f"{package}.{name}")
