"""Values as a prompt and a notebook show them: one short line, or a small HTML table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from daxy.core.errors import visible

LONGEST = 99
"""Characters of a `repr` at most."""
LONGEST_CELL = 300
"""Characters of a table's cell at most."""
PADDING = "padding:0 .6em"


class Brief:
    """A mixin for values whose `repr` is one short line, as `Split(scan/simple: ...)`."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Brief.__repr__  # else a dataclass would make its own

    @property
    def _brief(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({cut(self._brief, LONGEST - len(type(self).__name__) - 2)})"


def cut(text: str, most: int) -> str:
    """Return a text on one line, with `...` for what exceeds so many characters."""
    line = " ".join(visible(text).split())
    return line if len(line) <= most else f"{line[: most - 3].rstrip()}..."


def table(
    head: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = "", note: str = ""
) -> str:
    """Return an HTML table without colors, for light and dark notebooks.

    Args:
        head: Names of the columns.
        rows: Cells; numbers are aligned to the right.
        title: Text above the table.
        note: Text below it.
    """
    heads = "".join(
        f'<th scope="col" style="text-align:left;{PADDING}">{_text(name)}</th>' for name in head
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f'<div style="overflow-x:auto">{_paragraph(title, "strong")}'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
        f"{_paragraph(note, 'small')}</div>"
    )


def _paragraph(text: str, kind: str) -> str:
    return f"<div><{kind}>{_text(text)}</{kind}></div>" if text else ""


def _cell(value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else cut(str(value), LONGEST_CELL)
    side = "right" if text.lstrip("+-")[:1].isdigit() else "left"
    return f'<td style="text-align:{side};vertical-align:top;{PADDING}">{_text(text)}</td>'


def _text(text: str) -> str:
    return escape(visible(text))


def counted(count: int, noun: str) -> str:
    """Return how many there are of something: 1 cell, 2,000 cells."""
    return f"{count:,} {noun}{'s' * (count != 1)}"
