"""The README's summary comes from the ledger, and from nowhere else."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from daxy import papers
from daxy.core.errors import CheckFailed, WrongFile
from daxy.report import readme
from daxy.reproduction.ledger import Ledger

ROOT = Path(__file__).parent.parent.parent
PAPER = papers.get("bastings2018")
TABLE = PAPER.table("table4")
EMPTY = f"# daxy\n\n{readme.BEGIN}\n{readme.END}\n\nend\n"


def test_the_project_s_own_readme_says_what_its_results_say() -> None:
    readme.main(ROOT / "README.md", ROOT / "results", check=True)


def test_a_summary_counts_each_value_of_a_paper_once(tmp_path: Path, entry_for: Callable) -> None:
    """Tables 1 and 4 print the same value of GRU +Attn on jump."""
    ledger = Ledger(tmp_path / "results")
    ledger.add(TABLE, [entry_for(TABLE.cell("GRU +Attn", "jump"), 0.125)])
    (tmp_path / "README.md").write_text(EMPTY)
    readme.main(tmp_path / "README.md", ledger.folder)
    written = (tmp_path / "README.md").read_text()
    assert "| Bastings et al. (2018) | 1 of 234 | 1 | 0 | 0 | Seeds vary" in written
    assert "| Lake & Baroni (2018) | 0 of 22 | 0 | 0 | 0 |" in written
    assert written.startswith("# daxy\n\n<!--")
    assert written.endswith("-->\n\nend\n")


def test_writing_again_changes_nothing(tmp_path: Path, entry_for: Callable) -> None:
    path, ledger = tmp_path / "README.md", Ledger(tmp_path / "results")
    path.write_text(EMPTY)
    readme.main(path, ledger.folder)
    assert path.read_text().count(" | 0 of ") == len(papers.available())
    readme.main(path, ledger.folder, check=True)
    ledger.add(TABLE, [entry_for(TABLE.cell("GRU", "jump"), 0.0)])
    before = path.read_text()
    with pytest.raises(CheckFailed, match="its summary is not that of"):
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
    assert asked.stderr.startswith(f"daxy: {path}: its summary is not that of")
    assert asked.stderr.count("\n") == 1
    assert subprocess.run(command, check=False).returncode == 0
    assert subprocess.run([*command, "--check"], check=False).returncode == 0
