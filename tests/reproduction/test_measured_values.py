"""No measured score gets lost or changes when names in `results/` do."""

import json
from collections import Counter
from pathlib import Path

from daxy import papers
from daxy.report.tables import compare
from daxy.reproduction.ledger import Ledger

KEPT = Path(__file__).parent / "measured_values.json"
"""A line a cell: table, row, column and the score of each seed, in per cent or as a perplexity."""


def test_every_cell_still_has_the_scores_that_were_measured_for_it() -> None:
    ledger, measured = Ledger(), dict[tuple[str, str, str], Counter[float]]()
    for paper in map(papers.get, papers.available()):
        runs = ledger.runs(paper)
        for table in paper.tables:
            for found in compare(table.cells, runs):
                place = table.path, found.cell.row, found.cell.column
                measured[place] = Counter(round(score, 4) for score in found.scores)
    kept = {
        (table, row, column): scores for table, row, column, scores in json.loads(KEPT.read_text())
    }
    assert kept
    assert {
        place: scores for place, scores in kept.items() if Counter(scores) - measured[place]
    } == {}
