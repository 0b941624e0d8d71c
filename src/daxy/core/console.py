"""A console of rich that escapes control characters."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator, Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from daxy.core.errors import visible


class Visible(Console):
    """A console that prints plain text and escapes control characters."""

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
        """Escape the texts of rich's own objects."""
        for segment in super().render(renderable, options):
            shown = segment.text if segment.is_control else visible(segment.text)
            yield segment._replace(text=shown)


@contextlib.contextmanager
def working(what: str) -> Generator[None]:
    """Show a status on a terminal during the block."""
    with Visible(sys.stderr).status(what):
        yield
