"""Tables for a person to read, of whatever width the terminal is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import IO, Protocol, runtime_checkable

from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table

from daxy.core.console import Visible

PIPED = 160
"""Columns of what goes to a file or to another program."""

BROKEN = 16
"""Letters of a word from which on it may be broken, where a column says that it may."""


@runtime_checkable
class Adapted(Protocol):
    """What is another table in a narrow terminal than in a wide one."""

    def at(self, width: int) -> Table:
        """Return the table for a terminal of so many columns."""
        ...


def write(text: RenderableType, file: IO[str] | None = None) -> None:
    """Print what rich can print, on stdout unless it goes elsewhere.

    Names are wrapped where there is no room for them, between words; figures never, but lists of
    them, in columns that fold: a table that needs more than the terminal has is as wide as it has
    to be.
    """
    out = file or sys.stdout
    width = None if out.isatty() else PIPED
    console = Visible(out, width)
    parts = list(_parts(console, text))
    tables = (part for part in parts if isinstance(part, Table))
    least = max((_fit(console, table) for table in tables), default=0)
    console.width = max(console.width, least)
    console.print(Group(*parts))


def _parts(console: Console, text: RenderableType) -> Iterator[RenderableType]:
    """Yield what is printed one below the other, tables as they are in a terminal of this width."""
    if isinstance(text, Group):
        for part in text.renderables:
            yield from _parts(console, part)
    elif isinstance(text, Adapted):
        yield text.at(console.width)
    else:
        yield text


def _fit(console: Console, table: Table) -> int:
    """Share a terminal's width among the columns of a table; return how much it needs at least."""
    wide = console.options.update(max_width=sys.maxsize)
    whole = Measurement.get(console, wide, table).maximum
    most, least = list[int](), list[int]()
    for column in table.columns:
        folds = column.overflow == "fold"
        column.no_wrap = column.no_wrap or (column.justify == "right" and not folds)
        found = [Measurement.get(console, wide, each) for each in (column.header, *column.cells)]
        most.append(max(each.maximum for each in found))
        word = max(each.minimum for each in found)
        least.append(most[-1] if column.no_wrap else min(word, BROKEN) if folds else word)
    needed = whole - sum(most) + sum(least)
    if console.width < whole:
        spare = max(console.width - needed, 0)
        for column, above, below in zip(table.columns, most, least, strict=True):
            column.width = min(above, below + spare)
            spare -= column.width - below
    return needed
