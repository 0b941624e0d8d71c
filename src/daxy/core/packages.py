"""Packages that add entries to daxy, and the one at fault in an error."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def package_of(point: EntryPoint) -> str:
    """Return the name and version of the package that has an entry point."""
    return "an unknown package" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def fault_of(error: BaseException) -> str:
    """Return the package, file and line that an error came from.

    It is the innermost line of a package that adds entries to daxy: the package may have called
    another library, or daxy, in a wrong way. Empty if no such package took part.
    """
    from importlib.metadata import distributions

    points = (point for each in distributions() for point in each.entry_points)
    packages = {
        point.module.partition(".")[0]: package_of(point)
        for point in points
        if point.group.startswith("daxy.")
    }
    fault = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        if package := packages.get(module.partition(".")[0]):
            fault = f"{package}: {frame.f_code.co_filename}:{line}"
    return fault
