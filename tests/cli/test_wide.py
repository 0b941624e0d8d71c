"""Tables in terminals of any width."""

import io
import re
from collections.abc import Callable

import pytest
from rich.console import Group, RenderableType
from rich.table import Table

from daxy import papers
from daxy.cli._wide import write
from daxy.report.tables import compare, for_terminal
from daxy.reproduction.ledger import Runs

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


@pytest.mark.parametrize("width", [20, 80, 110, 130])
def test_published_figures_and_measured_ones_are_not_cut(
    width: int, monkeypatch: pytest.MonkeyPatch, entry_for: Callable
) -> None:
    table = papers.table("bastings2018/table4")
    cell = table.cell("GRU +Attn", "jump")
    entries = [entry_for(cell, 0.125, seed) for seed in range(3)]
    assert cell.recipe is not None
    (found,) = compare([cell], Runs({cell.recipe.identity: entries}))
    lines = written(for_terminal(table, [found]), width, monkeypatch)
    (row,) = [line for line in lines if "GRU +Attn" in line]
    for said in (cell.column, cell.printed, "12.5 ±0.0", found.verdict):
        assert said in row
    assert found.difference is not None
    assert (f"{found.difference:+z.1f}" in row) == (width >= 100)


def test_a_long_path_is_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table("seed", box=None)
    table.add_column("run folder", overflow="fold")
    path = "runs/scan-addprim_jump.seq2seq.seed0.0123456789ab" * 2
    table.add_row("0", path)
    lines = written(table, 60, monkeypatch)
    assert max(map(len, lines)) <= 60
    assert "".join(line.strip() for line in lines).endswith(path.replace(" ", ""))
