"""Figures: Matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from daxy.core.imports import need

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches.

    Raises:
        MissingPackage: Matplotlib is not installed.
    """
    need("matplotlib")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
