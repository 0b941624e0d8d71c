from collections.abc import Callable
from pathlib import Path

import pytest

from daxy import papers, tasks
from daxy.cli.main import verbs
from daxy.report import analyses
from daxy.reproduction.ledger import Ledger

TABLE = papers.table("bastings2018/table4")


@pytest.fixture
def results(tmp_path: Path, entry_for: Callable) -> str:
    """A ledger with three runs of one cell."""
    cell = TABLE.cell("GRU +Attn", "jump")
    runs = [entry_for(cell, score, seed) for seed, score in enumerate((0.1, 0.12, 0.14))]
    Ledger(tmp_path).add(TABLE, runs)
    return str(tmp_path)


def test_papers_lists_them(daxy: Callable) -> None:
    found = daxy("papers", "--json").json
    assert list(found["papers"]) == list(found["tables"]) == papers.available()
    assert found["tables"]["bastings2018"] == len(papers.get("bastings2018").tables)
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


def test_a_table_has_measured_and_published_scores(daxy: Callable, results: str) -> None:
    answer = daxy("papers", "bastings2018/table4", "--results", results)
    (line,) = (line for line in answer.out.splitlines() if " agrees " in line)
    figures = "12.5 ±6.6 12.0 ±1.6 1.2 10.0 14.0 -0.5 agrees 10.0 12.0 14.0; 3 seeds"
    assert line.split()[2:] == ["jump", *figures.split()]
    cells = daxy("papers", "bastings2018/table4", "--results", results, "--json").json["cells"]
    assert [each["verdict"] for each in cells].count("not measured") == 35


@pytest.mark.parametrize("paper", [it for it in papers.available() if papers.get(it).elsewhere])
def test_other_commands_of_a_paper_are_listed(paper: str, daxy: Callable, results: str) -> None:
    listed = daxy("papers", paper, "--results", results)
    for name, command in papers.get(paper).elsewhere.items():
        assert f"{paper}/{name}: {command}" in listed.out.splitlines()
        answer = daxy("papers", f"{paper}/{name}", "--results", results)
        assert (answer.code, f"`{command}` shows it" in answer.err) == (2, True)
        program, verb, what, *_ = command.split()
        assert (program, verb in verbs()) == ("daxy", True)
        known = analyses.available() if verb == "analyse" else tasks.available()
        assert what in known


def test_rows_and_columns_are_chosen(daxy: Callable, results: str) -> None:
    chosen = ("--row", "gru+attn", "--row", "lstm", "--column", "JUMP")
    cells = daxy("papers", TABLE.path, *chosen, "--results", results, "--json").json["cells"]
    assert [(each["row"], each["column"]) for each in cells] == [
        ("LSTM", "jump"),
        ("GRU +Attn", "jump"),
    ]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_table_is_drawn(daxy: Callable, results: str, tmp_path: Path, ending: str) -> None:
    picture = tmp_path / f"table.{ending}"
    request = ("papers", TABLE.path, "--results", results, "--draw", str(picture))
    assert daxy(*request, "--json").json["out"] == str(picture)
    assert picture.stat().st_size > 1_000
    again = daxy(*request)
    assert again.code == 2
    assert "exists; --force replaces it" in again.err
    assert daxy(*request, "--force").code == 0


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ("bastings2018 --draw x.png", "--row, --column, --draw and --force need a table"),
        ("--row gru", "--row, --column, --draw and --force need a table"),
        (
            "bastings2018/table4 --draw x.gif",
            "x.gif: expected a name that ends in .png",
        ),
        ("bastings2018/table4 --row xyz", "no row named 'xyz'"),
        ("lake2018/grid --results . --draw x.png", "lake2018/grid: nothing to draw"),
    ],
)
def test_what_cannot_be_shown_is_refused(request_: str, message: str, daxy: Callable) -> None:
    answer = daxy("papers", *request_.split())
    assert answer.code == 2
    assert message in answer.err


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


def test_the_packaged_results_are_the_default(
    daxy: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, results: str
) -> None:
    monkeypatch.chdir(tmp_path / "bastings2018")
    packaged = daxy("papers", TABLE.path, "--json").json
    assert sum(each["measured"] is not None for each in packaged["cells"]) > 3
    Path("results").symlink_to(results)
    own = daxy("papers", TABLE.path, "--json").json
    assert own["results"] == "results/bastings2018/table4.json"
    assert sum(each["measured"] is not None for each in own["cells"]) == 1


def test_a_damaged_ledger_is_named(daxy: Callable, tmp_path: Path) -> None:
    path = tmp_path / "bastings2018" / "table4.json"
    path.parent.mkdir()
    path.write_text("{")
    answer = daxy("papers", "bastings2018", "--results", str(tmp_path))
    assert answer.code == 2
    assert answer.err.startswith(f"daxy: {path}:1: no JSON: ")


def test_an_unknown_row_names_the_command_that_lists_rows(
    daxy: Callable, tmp_path: Path, entry_for: Callable
) -> None:
    grid = papers.table("lake2018/grid")
    run = entry_for(next(cell for cell in grid.cells if cell.recipe), 0.5)
    ledger = Ledger(tmp_path)
    ledger.add(grid, [run])
    path = ledger.path(grid)
    path.write_text(path.read_text().replace(f'"row": "{run.row}"', '"row": "?"'))
    answer = daxy("papers", "lake2018", "--results", str(tmp_path))
    listed = f"`daxy papers lake2018/grid` lists all {len(grid.rows)}"
    assert answer.err == f"daxy: {path}: run 1: no row named '?'; {listed}\n"
