"""Output for people, by rich: control characters are escaped, and nothing is cut."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator, Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from daxy.core.errors import visible

PIPED = 160
"""Width of output that goes to a file or another program, in columns."""


class Visible(Console):
    """A console that escapes control characters and folds the columns of tables."""

    def __init__(self, file: IO[str], width: int | None = None) -> None:
        super().__init__(file=file, width=width, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Raise an error for `main`."""
        raise BrokenPipeError

    def render_str(self, text: str, **how: Any) -> Text:
        """Escape a text before its width is measured."""
        return super().render_str(visible(text), **how)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield segments with visible text, also of rich's own texts."""
        if isinstance(renderable, Table):
            for column in renderable.columns:
                column.overflow = "fold"  # the default cuts a long word
        for segment in super().render(renderable, options):
            shown = segment.text if segment.is_control else visible(segment.text)
            yield segment._replace(text=shown)


def write(text: RenderableType, file: IO[str] | None = None) -> None:
    """Print anything that rich can print, on stdout by default; a narrow terminal folds tables."""
    out = file or sys.stdout
    Visible(out, None if out.isatty() else PIPED).print(text)


@contextlib.contextmanager
def working(what: str) -> Generator[None]:
    """Show a status on a terminal during the block."""
    with Visible(sys.stderr).status(what):
        yield
