"""A folder is a registry: its modules are the entries, found by listing, loaded when asked for."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import traceback
from functools import cache
from pathlib import Path
from types import ModuleType

from daxy.core.errors import DaxyError, UnknownName, WrongFile
from daxy.core.imports import import_failure


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
    return docstring(package, name).partition("\n")[0].rstrip(".")


def docstring(package: str, name: str) -> str:
    """Return an entry's docstring, importing nothing."""
    try:
        return ast.get_docstring(ast.parse(_file(package, name).read_text(encoding="utf-8"))) or ""
    except SyntaxError as error:
        return f"cannot be read: {error.msg}, line {error.lineno}"


def _file(package: str, name: str) -> Path:
    spec = importlib.util.find_spec(f"{package}.{name}")
    assert spec is not None and spec.origin is not None, name
    return Path(spec.origin)


def load(package: str, name: str, *wanted: str, kind: str) -> ModuleType:
    """Import one entry, which has what is wanted of every entry of its folder.

    Raises:
        UnknownName: the folder has no such module.
        WrongFile: the module cannot be imported, or lacks a name; says where and why.
        MissingPackage: an optional package that the module needs is not installed.
        RunFailed: JAX, which it needs, cannot be imported.
    """
    if name not in (known := entries(package)):
        raise UnknownName(kind, name, known)
    try:
        module = importlib.import_module(f"{package}.{name}")
    except Exception as error:
        # Somebody is writing it.
        raise _what_is_wrong(error, _file(package, name)) from error
    for each in wanted:
        if not hasattr(module, each):
            raise WrongFile(_file(package, name), f"there is no {each} in it")
    return module


def _what_is_wrong(error: Exception, file: Path) -> DaxyError:
    if failure := import_failure(error):
        return failure
    if isinstance(error, SyntaxError) and error.filename is not None:
        return WrongFile(error.filename, error.msg, line=error.lineno)
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    said = f"{type(error).__name__}: {error}"
    return WrongFile(file, said, line=lines[-1] if lines else None)
