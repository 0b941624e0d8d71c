from collections.abc import Callable
from pathlib import Path

import pytest

from daxy.experiments import papers
from daxy.experiments.ledger import Ledger

TABLE = papers.table("bastings2018/table4")


@pytest.fixture
def results(tmp_path: Path, entry_for: Callable) -> str:
    """A ledger with three runs of one cell."""
    cell = TABLE.cell("GRU +Attn", "jump")
    runs = [entry_for(cell, score, seed) for seed, score in enumerate((0.1, 0.12, 0.14))]
    Ledger(tmp_path).add(TABLE, runs)
    return str(tmp_path)


def test_papers_lists_them(daxy: Callable) -> None:
    assert list(daxy("papers", "--json").json["papers"]) == papers.available()
    assert "Jump to better conclusions" in daxy("papers").out


def test_a_paper_lists_its_tables_with_what_is_measured(daxy: Callable, results: str) -> None:
    answer = daxy("papers", "bastings2018", "--results", results, "--json")
    measured = {each["table"]: each["measured"] for each in answer.json["tables"]}
    assert measured["bastings2018/table4"] == 1
    assert measured["bastings2018/table1"] == 1  # prints the same cell
    assert measured["bastings2018/table6"] == 0
    cells = {each["table"]: each["cells"] for each in answer.json["tables"]}
    assert cells["bastings2018/table6"] == 70
    assert "1 of 36" in daxy("papers", "bastings2018", "--results", results).out


def test_a_table_has_measured_beside_published(daxy: Callable, results: str) -> None:
    answer = daxy("papers", "bastings2018/table4", "--results", results)
    (line,) = (line for line in answer.out.splitlines() if " agrees " in line)
    figures = "12.5 ±6.6 12.0 ±1.6 1.2 10.0 14.0 -0.5 agrees 10.0 12.0 14.0"
    assert line.split()[2:] == ["jump", *figures.split()]
    cells = daxy("papers", "bastings2018/table4", "--results", results, "--json").json["cells"]
    assert [each["verdict"] for each in cells].count("not yet") == 35


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ("bastings", "no paper named 'bastings'; did you mean bastings2018?"),
        ("bastings2018/table44", "no table named 'bastings2018/table44'; did you mean"),
    ],
)
def test_unknown_names_get_one_line(request_: str, message: str, daxy: Callable) -> None:
    answer = daxy("papers", request_)
    assert answer.code == 2
    assert answer.err.startswith(f"daxy: {message}")


def test_a_damaged_ledger_is_named(daxy: Callable, tmp_path: Path) -> None:
    path = tmp_path / "bastings2018" / "table4.json"
    path.parent.mkdir()
    path.write_text("{")
    answer = daxy("papers", "bastings2018", "--results", str(tmp_path))
    assert answer.code == 2
    assert answer.err.startswith(f"daxy: {path}:1: no JSON: ")
