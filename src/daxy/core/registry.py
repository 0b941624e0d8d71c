"""Registries of modules in a folder and of entry points of other packages.

A package adds a metric `first` by an entry point of the group `daxy.metrics`. Its value is a module
that exposes what a file of `daxy/metrics` would:

    [project.entry-points."daxy.metrics"]
    first = "my_package.first"
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import traceback
import warnings
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

from daxy.core.errors import DaxyError, DaxyWarning, UnknownName, WrongFile, WrongRequest, quote
from daxy.core.imports import import_failure
from daxy.core.packages import package_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from importlib.metadata import EntryPoint
    from types import ModuleType

Entry = TypeVar("Entry")


@final
class Registry(Generic[Entry]):
    """Entries of one kind by name. Listing imports no entry; a built-in name reads no entry point.

    Args:
        package: Package of the built-in entries. Its last word names the group of entry points:
            `daxy.memories` for `daxy.models.memories`.
        attribute: Name of an entry in its module. For several names the entry is the module,
            which must have all of them.
        kind: Noun for an entry in errors.
        of: Class of the entries; any by default.
        problem: Returns the error of an entry, empty for none.
        is_open: Whether other packages can add entries.
        without: Modules of the package that are no entries.
    """

    def __init__(
        self,
        package: str,
        attribute: str | tuple[str, ...],
        kind: str,
        of: type[Entry] | None = None,
        *,
        problem: Callable[[str, Entry], str] | None = None,
        is_open: bool = True,
        without: Sequence[str] = (),
    ) -> None:
        self._package = package
        self._attributes = (attribute,) if isinstance(attribute, str) else attribute
        self._kind = kind
        self._class = of
        self._problem = problem
        self._without = without
        self._entries: dict[str, Entry] = {}
        self._group = f"daxy.{package.rpartition('.')[2]}" if is_open else ""

    def available(self) -> list[str]:
        """Return all names, sorted; warn of a name that several packages have, and leave it out.

        A name of daxy stays daxy's.
        """
        for name in self._entry_points:
            self._works(self._check_unique, name)
        unique = [name for name, points in self._entry_points.items() if len(points) == 1]
        return sorted({*self.built_in, *unique})

    def usable(self) -> list[str]:
        """Return all names; warn of other packages' entries that cannot be loaded, without them.

        Entries of daxy are not loaded.
        """
        names = self.available()
        return [it for it in names if it in self.built_in or self._works(self.get, it)]

    def _works(self, function: Callable[[str], object], name: str) -> bool:
        """Whether a function takes a name; warn of its error."""
        try:
            function(name)
        except DaxyError as error:
            warnings.warn(f"left out: {error}", DaxyWarning, stacklevel=3)
            return False
        return True

    def __contains__(self, name: str) -> bool:
        return name in self.built_in or name in self._entry_points

    def get(self, name: str) -> Entry:
        """Return an entry.

        Raises:
            UnknownName: there is no such entry.
            WrongRequest: two packages have an entry of this name.
            WrongFile: its module cannot be imported, lacks an attribute or has one of another
                class; says where and why.
            MissingPackage: an optional package that the module needs is not installed.
            RunFailed: JAX, which it needs, cannot be imported.
        """
        if name not in self._entries:
            self._entries[name] = self._load(name)
        return self._entries[name]

    def _load(self, name: str) -> Entry:
        module = self._module(name)
        for attribute in self._attributes:
            if not hasattr(module, attribute):
                raise self.fault(name, f"there is no {attribute} in it")
        is_single = len(self._attributes) == 1
        entry: Any = getattr(module, self._attributes[0]) if is_single else module
        problem = self._problem_of(name, entry)
        if problem:
            raise self.fault(name, problem)
        return entry

    def fault(self, name: str, problem: str) -> WrongFile:
        """Return the error of a problem of an entry; it names the package and the file."""
        return WrongFile(self._place(name), problem)

    def _problem_of(self, name: str, entry: Any) -> str:
        if self._class is not None and not isinstance(entry, self._class):
            return f"its {self._attributes[0]} is no {self._class.__name__}"
        return "" if self._problem is None else self._problem(name, entry)

    def loaded(self) -> dict[str, Entry]:
        """Return all entries by name; warn of entries of other packages that cannot be loaded."""
        return {name: self.get(name) for name in self.usable()}

    def summary(self, name: str) -> str:
        """Return the first line of an entry's docstring, without its full stop."""
        return self.docstring(name).partition("\n")[0].rstrip(".")

    def docstring(self, name: str) -> str:
        """Return the docstring of an entry's module, which is not imported."""
        try:
            source = Path(self._file(name)).read_text(encoding="utf-8")
            return ast.get_docstring(ast.parse(source)) or ""
        except SyntaxError as error:
            return f"cannot be read: {error.msg}, line {error.lineno}"
        except (OSError, ValueError) as error:
            return f"cannot be read: {error}"

    @cached_property
    def built_in(self) -> Sequence[str]:
        """Names of the public modules of the folder, sorted."""
        spec = importlib.util.find_spec(self._package)
        assert spec is not None and spec.submodule_search_locations is not None, self._package
        modules = pkgutil.iter_modules(list(spec.submodule_search_locations))
        names = (module.name for module in modules if not module.ispkg)
        return sorted(it for it in names if not it.startswith("_") and it not in self._without)

    @cached_property
    def _entry_points(self) -> Mapping[str, Sequence[EntryPoint]]:
        """Entry points by name; several where packages disagree."""
        if not self._group:
            return {}
        from importlib.metadata import entry_points

        points: dict[str, list[EntryPoint]] = {}
        for point in entry_points(group=self._group):
            points.setdefault(point.name, []).append(point)
        return points

    def package_of(self, name: str) -> str:
        """Return the name and version of the package that has an entry; daxy is one."""
        return "daxy" if name in self.built_in else package_of(self._entry_points[name][0])

    def _check_unique(self, name: str) -> None:
        packages = ["daxy"] * (name in self.built_in)
        packages += map(package_of, self._entry_points.get(name, ()))
        if len(packages) > 1:
            named = f"a {self._kind} named {name!r}: {' and '.join(packages)}"
            raise WrongRequest(f"{len(packages)} packages have {named}; uninstall or rename one")

    def _module(self, name: str) -> ModuleType:
        if name not in self:
            raise UnknownName(self._kind, name, self.available())
        if name not in self.built_in:
            self._check_unique(name)
        try:
            return importlib.import_module(self._target(name))
        except (Exception, SystemExit) as error:
            raise self._import_error(error, name) from error

    def _target(self, name: str) -> str:
        if name in self.built_in:
            return f"{self._package}.{name}"
        return self._entry_points[name][0].value.partition(":")[0].strip()

    def _file(self, name: str) -> str:
        """Return the path of an entry's module, or its dotted name where there is no file."""
        target = self._target(name)
        try:
            spec = importlib.util.find_spec(target)
        except Exception:  # finding a module imports the package around it
            spec = None
        return target if spec is None or spec.origin is None else spec.origin

    def _place(self, name: str, file: str = "") -> str:
        """Return the name of a file in errors: its package and path."""
        package = "" if name in self.built_in else f"{self.package_of(name)}: "
        return f"{package}{file or self._file(name)}"

    def _import_error(self, error: BaseException, name: str) -> DaxyError:
        if failure := import_failure(error):
            is_own = name in self.built_in
            return failure if is_own else WrongFile(self._place(name), str(failure))
        if isinstance(error, SyntaxError) and error.filename is not None:
            return WrongFile(self._place(name, error.filename), error.msg, line=error.lineno)
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == self._file(name)]
        problem = f"{type(error).__name__}: {error}"
        return WrongFile(self._place(name), problem, line=lines[-1] if lines else None)


def named_by(attribute: str) -> Callable[[str, Any], str]:
    """Return a check of entries: an attribute of each has the name of its entry."""

    def problem(name: str, entry: Any) -> str:
        value = getattr(entry, attribute, None)
        expected = f"expected {name!r}, the name of its entry"
        return "" if value == name else f"its {attribute} is {quote(value)}; {expected}"

    return problem
