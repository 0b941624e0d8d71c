"""Tables for a person to read, of whatever width the terminal is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

PIPED = 160
"""Columns of what goes to a file or to another program."""


def write(text: RenderableType, file: IO[str] | None = None) -> None:
    """Print what rich can print, on stdout unless it goes elsewhere.

    Names are wrapped where there is no room for them, between words; figures never: a table that
    needs more than the terminal has is as wide as it has to be.
    """
    from rich.console import Console

    out = file or sys.stdout
    width = None if out.isatty() else PIPED
    console = Console(file=out, width=width, highlight=False, markup=False)
    least = max((_fit(console, table) for table in _tables(text)), default=0)
    console.width = max(console.width, least)
    console.print(text)


def _fit(console: Console, table: Table) -> int:
    """Share a terminal's width among the columns of a table; return how much it needs at least."""
    from rich.measure import Measurement

    wide = console.options.update(max_width=sys.maxsize)
    whole = Measurement.get(console, wide, table).maximum
    most, least = list[int](), list[int]()
    for column in table.columns:
        found = [Measurement.get(console, wide, each) for each in (column.header, *column.cells)]
        most.append(max(each.maximum for each in found))
        is_figures = column.no_wrap or column.justify == "right"
        least.append(most[-1] if is_figures else max(each.minimum for each in found))
    needed = whole - sum(most) + sum(least)
    if console.width < whole:
        spare = max(console.width - needed, 0)
        for column, above, below in zip(table.columns, most, least, strict=True):
            column.width = min(above, below + spare)
            spare -= column.width - below
    return needed


def _tables(text: RenderableType) -> Iterator[Table]:
    from rich.console import Group
    from rich.table import Table

    if isinstance(text, Table):
        yield text
    elif isinstance(text, Group):
        for part in text.renderables:
            yield from _tables(part)
