"""Tables in terminals of any width."""

import io
import re

import pytest
from rich.console import Group
from rich.table import Table

from daxy.cli._wide import write

NAME = "a name of a row that is long and can be wrapped"
FIGURES = ("86.7 ±5.2", "76.5 ±2.7", "75.4 80.3 73.9")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    table = Table("row", "task", box=None, pad_edge=False)
    for name in ("published", "measured", "each run"):
        table.add_column(name, justify="right")
    table.add_row(NAME, "scan/jump", *FIGURES)
    terminal = Terminal()
    write(Group("a title", "", table), terminal)
    return re.sub(r"\x1b\[\d*m", "", terminal.getvalue()).splitlines()


@pytest.mark.parametrize("width", [20, 60, 80, 100])
def test_nothing_of_a_table_is_cut(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(width, monkeypatch)
    row = next(number for number, line in enumerate(lines) if FIGURES[0] in line)
    assert all(figure in lines[row] for figure in FIGURES)
    assert "…" not in "".join(lines)
    # The first column is as wide as what stands before the second.
    wide = lines[row].index("scan/jump")
    assert " ".join(line[:wide].strip() for line in lines[row:]).split() == NAME.split()


def test_a_table_is_no_wider_than_it_has_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    least, whole = (max(map(len, shown(width, monkeypatch))) for width in (20, 300))
    assert whole == len(f"{NAME}  scan/jump  {'  '.join(FIGURES)}")
    assert least == whole - len(NAME) + len("wrapped")
    assert max(map(len, shown(90, monkeypatch))) == 90
