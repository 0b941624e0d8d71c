"""Tables for a person to read, of whatever width the terminal is."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import IO, Any, Protocol, runtime_checkable

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from daxy.core.errors import visible

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


class Visible(Console):
    """A console that prints texts as they are, but for control characters, which it escapes."""

    def __init__(self, file: IO[str], width: int | None = None) -> None:
        super().__init__(file=file, width=width, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Leave it to `main` what a reader that has gone means."""
        raise BrokenPipeError

    def render_str(self, text: str, **how: Any) -> Text:
        """Return a text as rich prints it, before its width is measured."""
        return super().render_str(visible(text), **how)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield what is printed, of texts that are rich's own already too."""
        for segment in super().render(renderable, options):
            shown = segment.text if segment.is_control else visible(segment.text)
            yield segment._replace(text=shown)


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
