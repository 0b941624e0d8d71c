"""The README's figures come from the ledger, and from nowhere else."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from daxy.core.errors import CheckFailed, WrongFile
from daxy.experiments import papers
from daxy.experiments.ledger import Ledger
from daxy.report import readme

ROOT = Path(__file__).parent.parent.parent
PAPER = papers.get("bastings2018")
TABLE = PAPER.table("table4")
EMPTY = f"# daxy\n\n{readme.BEGIN}\n{readme.END}\n\nend\n"


def test_the_project_s_own_readme_says_what_its_results_say() -> None:
    readme.main(ROOT / "README.md", ROOT / "results", check=True)


def test_the_table_has_the_measured_cells_alone(tmp_path: Path, entry_for: Callable) -> None:
    ledger = Ledger(tmp_path / "results")
    ledger.add(TABLE, [entry_for(TABLE.cell("GRU +Attn", "jump"), 0.125)])
    (tmp_path / "README.md").write_text(EMPTY)
    readme.main(tmp_path / "README.md", ledger.folder)
    said = (tmp_path / "README.md").read_text()
    row = "| GRU +Attn | jump | 12.5 ±6.6 | 12.5 |  | 12.5 | 12.5 | +0.0 | agrees |"
    assert f"{row} 12.5; 1 of 3 runs |" in said
    assert "table1" not in said
    assert said.startswith("# daxy\n\n<!--")
    assert said.endswith("-->\n\nend\n")


def test_what_the_same_runs_come_to_in_other_tables_is_said_there(
    tmp_path: Path, entry_for: Callable
) -> None:
    """One run has a figure in Tables 8, 9 and 10; Table 3 prints that of Table 8 again."""
    ledger, cell = Ledger(tmp_path / "results"), PAPER.table("table8").cell("GRU +Attn", "En-Fr")
    tests = {"sentences": {"bleu": 0.3}, "new_word": {"exact": 0.5}, "control": {"exact": 0.25}}
    ledger.add(PAPER.table("table8"), [entry_for(cell, 0.3, tests=tests)])
    said = readme.render(ledger)
    named = [line.split("**")[1] for line in said.splitlines() if line.startswith("**")]
    assert named == [f"bastings2018/table{number}" for number in (8, 9, 10)]
    for figure in ("32.1 ±0.3 | 30.0 |", "70.8 ±11.8 | 50.0 |", "62.5 ±0.0 | 25.0 |"):
        assert f"| GRU +Attn | En-Fr | {figure}" in said


def test_what_no_paper_prints_is_counted_and_not_listed(
    tmp_path: Path, entry_for: Callable
) -> None:
    """Figure 3 has figures for 1, 2 and 4%, and bars without figures for the others."""
    ledger = Ledger(tmp_path / "results")
    figure, grid = (papers.get("lake2018").table(name) for name in ("figure3", "grid"))
    ledger.add(figure, [entry_for(figure.cell("best overall", size), 0.5) for size in ("2%", "8%")])
    ledger.add(grid, [entry_for(cell, 0.25) for cell in grid.cells[:3]])
    said = readme.render(ledger)
    assert "| best overall | 2% | 54 | 50.0 |" in said
    assert "8%" not in said
    assert figure.note
    assert f"\n\n{figure.note}\n" in said
    assert "published score: 1; `daxy papers lake2018/figure3` shows them." in said
    assert "published score: 3; `daxy papers lake2018/grid` shows them." in said


def test_what_a_paper_prints_stands_where_it_does_wherever_its_runs_are_filed(
    tmp_path: Path, entry_for: Callable
) -> None:
    """A whole training with the rate that the table has is filed under the rates tried."""
    ledger = Ledger(tmp_path / "results")
    table, rates = (papers.get("grefenstette2015").table(name) for name in ("table", "whole_rates"))
    printed = table.cell("Stack-LSTM", "gender train coarse")
    (tried,) = (
        cell for cell in rates.cells if cell.recipe == printed.recipe and cell.value is None
    )
    ledger.add(rates, [entry_for(tried, 0.5, perplexity=1.5, validation_scores={"exact": 0.5})])
    said = readme.render(ledger)
    assert "| Stack-LSTM | gender train coarse | 93 | 50.0 |" in said
    assert "whole_rates" not in said


def test_writing_again_changes_nothing(tmp_path: Path, entry_for: Callable) -> None:
    path, ledger = tmp_path / "README.md", Ledger(tmp_path / "results")
    path.write_text(EMPTY)
    readme.main(path, ledger.folder)
    assert "Nothing has been measured yet." in path.read_text()
    readme.main(path, ledger.folder, check=True)
    ledger.add(TABLE, [entry_for(TABLE.cell("GRU", "jump"), 0.0)])
    before = path.read_text()
    with pytest.raises(CheckFailed, match="its scores are not those of"):
        readme.main(path, ledger.folder, check=True)
    assert path.read_text() == before
    readme.main(path, ledger.folder)
    readme.main(path, ledger.folder, check=True)


@pytest.mark.parametrize(
    "text",
    ["# daxy\n", f"{readme.BEGIN}\n", f"{readme.END}\n{readme.BEGIN}\n", EMPTY + EMPTY],
)
def test_a_file_without_one_pair_of_markers_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(text)
    with pytest.raises(WrongFile, match="expected one line"):
        readme.main(path, tmp_path)
    assert path.read_text() == text


def test_the_command_ends_with_one_line_and_a_code(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(EMPTY)
    command = [sys.executable, "-m", "daxy.report.readme", str(path), "--results", str(tmp_path)]
    asked = subprocess.run([*command, "--check"], capture_output=True, text=True, check=False)
    assert asked.returncode == 1
    assert asked.stderr.startswith(f"daxy: {path}: its scores are not those of")
    assert asked.stderr.count("\n") == 1
    assert subprocess.run(command, check=False).returncode == 0
    assert subprocess.run([*command, "--check"], check=False).returncode == 0
