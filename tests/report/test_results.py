"""The pages of results: every measured value, with its seeds and why it differs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from daxy import papers
from daxy.report import results
from daxy.reproduction.ledger import Ledger

ROOT = Path(__file__).parents[2]
LEDGER = Ledger(ROOT / "results")
LINE = 110


@pytest.mark.slow
@pytest.mark.parametrize("name", papers.available())
def test_a_page_has_every_measured_value_under_the_heading_of_its_table(name: str) -> None:
    paper = papers.get(name)
    page, runs = results.page(paper, LEDGER), LEDGER.runs(paper)
    for table in paper.tables:
        measured = [cell for cell in table.cells if runs.of(cell)]
        heading = results.heading(table)
        assert (heading in page) == bool(measured)
        section = page.partition(heading)[2].partition("\n## ")[0]
        for cell in measured:
            seeds = len(runs.of(cell))
            (row,) = (
                x for x in section.splitlines() if x.startswith(f"| {cell.row} | {cell.column} |")
            )
            assert f" | {seeds} |" in row
            assert cell.printed in row
        assert section.count("\n- ") == len(measured)


def test_a_run_that_the_paper_chooses_stands_before_the_mean(
    tmp_path: Path, entry_for: Callable
) -> None:
    ledger, table = Ledger(tmp_path), papers.table("grefenstette2015/table")
    cell = table.cell("Stack-LSTM", "reverse test coarse")
    runs = [
        entry_for(cell, score, seed, perplexity=2.0 - score, validation_scores={"exact": score})
        for seed, score in enumerate((0.0, 1.0))
    ]
    ledger.add(table, runs)
    page = results.page(papers.get("grefenstette2015"), ledger)
    row = "| Stack-LSTM | reverse test coarse | 100 | 100.0 (mean 50.0 ±50.0) | 2 | agrees |"
    assert row in page.splitlines()


def test_a_heading_has_the_number_that_the_paper_prints() -> None:
    headings = [results.heading(table) for table in papers.get("lake2018").tables]
    assert headings[1] == (
        "## Figure 3: Test scores after training on a random part of all commands { #figure3 }"
    )
    assert headings[0].startswith("## Test scores of the best networks")


def test_reasons_are_short() -> None:
    every = [papers.get(name) for name in papers.available()]
    assert all(0 < len(paper.differences) <= 2 * LINE for paper in every)
    assert all(len(table.differences) <= 3 * LINE for paper in every for table in paper.tables)


def test_every_table_with_a_value_that_differs_says_why() -> None:
    for name in papers.available():
        page = results.page(papers.get(name), LEDGER)
        for section in page.split("\n## ")[1:]:
            if "| differs |" in section:
                assert "**Why values differ.**" in section, section[:100]
