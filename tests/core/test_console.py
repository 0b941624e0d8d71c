"""Tables in terminals of any width."""

import io
import re
from collections import Counter

import pytest
from rich.console import Group, RenderableType
from rich.table import Table

from daxy.core.console import PIPED, write

NAME = "a name of a row that is long and can be wrapped"
FIGURES = ("86.7 ±5.2", "76.5 ±2.7", "75.4 80.3 73.9")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def written(text: RenderableType, width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    write(text, terminal)
    return re.sub(r"\x1b\[\d*(;\d+)*m", "", terminal.getvalue()).splitlines()


def shown(width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    table = Table("row", "task", box=None, pad_edge=False)
    for name in ("published", "measured", "each run"):
        table.add_column(name, justify="right")
    table.add_row(NAME, "scan/jump", *FIGURES)
    return written(Group("a title", "", table), width, monkeypatch)


@pytest.mark.parametrize("width", [20, 60, 80, 100])
def test_nothing_of_a_table_is_cut(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(width, monkeypatch)
    assert max(map(len, lines)) <= width
    assert "…" not in "".join(lines)
    expected = "".join((NAME, "scan/jump", *FIGURES)).replace(" ", "")
    assert Counter("".join(lines[3:]).replace(" ", "")) >= Counter(expected)


def test_a_wide_table_is_as_wide_as_its_content(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = max(map(len, shown(300, monkeypatch)))
    assert whole == len(f"{NAME}  scan/jump  {'  '.join(FIGURES)}")


def test_without_a_terminal_a_table_is_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    file, table = io.StringIO(), Table("row", box=None)
    table.add_row("x" * (PIPED - 10))
    write(table, file)
    assert "x" * (PIPED - 10) in file.getvalue()


def test_a_long_path_is_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table("seed", box=None)
    table.add_column("run folder")
    path = "runs/scan-addprim_jump.seq2seq.seed0.0123456789ab" * 2
    table.add_row("0", path)
    lines = written(table, 60, monkeypatch)
    assert max(map(len, lines)) <= 60
    assert "".join(line.strip() for line in lines).endswith(path.replace(" ", ""))
