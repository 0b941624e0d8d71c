"""A folder is a registry: its modules are the entries, found by listing, loaded when asked for."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from types import ModuleType

from daxy.core.errors import UnknownName


def entries(package: str) -> list[str]:
    """Return the public module names of a package, sorted, importing none; no folders."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations is not None, package
    found = pkgutil.iter_modules(list(spec.submodule_search_locations))
    return sorted(m.name for m in found if not m.ispkg and not m.name.startswith("_"))


def load(package: str, name: str, *, kind: str) -> ModuleType:
    """Import one entry.

    Raises:
        UnknownName: the folder has no such module.
    """
    if name not in (known := entries(package)):
        raise UnknownName(kind, name, known)
    return importlib.import_module(f"{package}.{name}")
