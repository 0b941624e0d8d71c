"""Published and quoted scores, as tables and as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

    from daxy.papers import TableCell
    from daxy.reproduction.references import Reference


def as_values(cells: Sequence[TableCell]) -> list[dict[str, Any]]:
    """Return cells of published tables as JSON values."""
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


def as_table(cells: Sequence[TableCell]) -> list[RenderableType]:
    """Return cells of published tables as a table; nothing without cells."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("published, %", justify="right")
    for head in ("score", "table", "row", "column"):
        table.add_column(head, overflow="fold")
    for each, cell in zip(as_values(cells), cells, strict=True):
        names = (each[name] for name in ("metric", "table", "row", "column"))
        table.add_row(cell.printed, *map(str, names))
    return ["", table] if cells else []


def quoted_values(references: Sequence[Reference]) -> list[dict[str, Any]]:
    """Return quoted scores as JSON values."""
    return [
        {
            "learner": each.learner,
            "test": each.test or None,
            "score": each.printed,
            "value": each.value,
            "spread": each.spread,
            "is_lower_bound": each.is_lower_bound,
            "citation": each.source.citation,
            "place": each.source.place,
            "note": each.note,
        }
        for each in references
    ]


def quoted_table(references: Sequence[Reference]) -> list[RenderableType]:
    """Return quoted scores as a table; nothing without scores."""
    from rich.table import Table

    has_tests = any(each.test for each in references)
    table = Table(box=None, pad_edge=False)
    table.add_column("quoted, %", justify="right")
    for head in ("test", "learner", "source", "note")[not has_tests :]:
        table.add_column(head, overflow="fold")
    for each in references:
        cells = (each.test, each.learner, each.source.citation, each.note)[not has_tests :]
        table.add_row(each.printed, *cells)
    return ["", table] if references else []
