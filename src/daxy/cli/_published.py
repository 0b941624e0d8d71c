"""Published figures, as verbs show them beside what somebody has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

    from daxy.experiments.papers import Cell


def as_values(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return figures as JSON values."""
    return [
        {
            "table": f"{cell.paper}/{cell.table}",
            "row": cell.row,
            "column": cell.column,
            "metric": cell.recipe and cell.recipe.metric,
            "printed": cell.printed,
            "value": cell.value,
            "spread": cell.spread,
        }
        for cell in cells
    ]


def as_table(cells: Sequence[Cell]) -> list[RenderableType]:
    """Return figures as lines under a heading; nothing if there are none."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("published, %", justify="right")
    for head in ("score", "table", "row", "column"):
        table.add_column(head, overflow="fold")
    for each, cell in zip(as_values(cells), cells, strict=True):
        names = (each[name] for name in ("metric", "table", "row", "column"))
        table.add_row(cell.printed, *map(str, names))
    return ["", table] if cells else []
