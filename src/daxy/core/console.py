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


@contextlib.contextmanager
def working(what: str) -> Generator[None]:
    """Say on a terminal that something is under way, until it is done."""
    with Visible(sys.stderr).status(what):
        yield
