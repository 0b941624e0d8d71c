"""Measured beside published, and the verdict."""

import io
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from daxy import papers
from daxy.core.console import Visible
from daxy.report.comparison import Comparison
from daxy.report.tables import HEAD, RETRAINED, SELECTED, compare, for_terminal, table
from daxy.reproduction.ledger import Ledger

PAPER = papers.get("bastings2018")
TABLE = PAPER.table("table4")


@pytest.mark.parametrize(
    ("row", "column", "scores", "verdict"),
    [
        ("GRU +Attn", "jump", [12.5], "agrees"),  # published 12.5 ±6.6
        ("GRU +Attn", "jump", [19.1], "agrees"),
        ("GRU +Attn", "jump", [19.2], "differs"),
        ("GRU +Attn", "jump", [18.3, 20.3], "overlaps"),  # 19.3 ±1.0: 6.8 <= 7.6
        ("GRU +Attn", "jump", [20.0, 26.0], "differs"),  # 23.0 ±3.0: 10.5 > 9.6
        ("GRU +Attn", "jump", [18.0, 26.0], "overlaps"),  # 22.0 ±4.0: 9.5 <= 10.6
        ("GRU", "simple", [99.9], "agrees"),  # 100.0 ±0.0: the floor
        ("GRU", "simple", [99.8], "differs"),
        ("GRU", "simple", [], "not measured"),
        ("L&B best", "simple", [], "quoted"),
    ],
)
def test_the_verdict_is_by_the_spreads(
    row: str, column: str, scores: Sequence[float], verdict: str
) -> None:
    assert Comparison(cell=TABLE.cell(row, column), scores=tuple(scores)).verdict == verdict


@pytest.mark.parametrize(("score", "verdict"), [(0.09, "agrees"), (0.06, "differs")])
def test_where_hundredths_are_printed_one_is_rounding(score: float, verdict: str) -> None:
    cell = papers.table("lake2018/experiments").cell("best overall", "jump")
    assert cell.printed == "0.08"
    assert Comparison(cell=cell, scores=(score,)).verdict == verdict


def test_fewer_runs_than_a_figure_is_of_are_counted() -> None:
    cell = TABLE.cell("GRU +Attn", "jump")
    assert cell.runs == 3
    found = [Comparison(cell=cell, scores=(12.0,) * count).texts[-1] for count in (0, 2, 3, 5)]
    assert found == [
        "",
        "12.0 12.0; 2 of 3 runs",
        "12.0 12.0 12.0; 3 seeds",  # few for a spread, which five are not
        "12.0 12.0 12.0 12.0 12.0",
    ]


@pytest.mark.parametrize(("score", "verdict"), [(38.5, "agrees"), (38.6, "differs")])
def test_where_whole_points_are_printed_half_a_point_is_rounding(
    score: float, verdict: str
) -> None:
    cell = papers.table("grefenstette2015/table").cell("1-layer LSTM", "copy test fine")
    assert cell.printed == "38"
    assert Comparison(cell=cell, scores=(score,), selected=score).verdict == verdict


def test_the_spread_is_the_population_s_as_in_table_9() -> None:
    """66.7 ±5.9 of eight sentences, three runs: 5, 5 and 6 right."""
    found = Comparison(cell=TABLE.cell("GRU", "simple"), scores=(62.5, 62.5, 75.0))
    assert found.texts[3] == "66.7 ±5.9"
    assert found.texts[-1] == "62.5 62.5 75.0; 3 seeds"


def test_scores_of_the_ledger_are_printed_in_per_cent(tmp_path: Path, entry_for: Callable) -> None:
    ledger = Ledger(tmp_path)
    cell = TABLE.cell("GRU +Attn", "jump")
    ledger.add(TABLE, [entry_for(cell, score, seed) for seed, score in enumerate((0.10, 0.12))])
    (found,) = compare([cell], ledger.runs(PAPER))
    figures = (
        "12.5 ±6.6",
        "11.0 ±1.0",
        "1.0",
        "10.0",
        "12.0",
        "-1.5",
        "agrees",
        "10.0 12.0; 2 of 3 runs",
    )
    assert found.texts == ("GRU +Attn", "jump", *figures)
    assert found.as_json["measured"]["runs"] == pytest.approx([10, 12])
    assert found.as_json["measured"]["sem"] == pytest.approx(1)


def test_where_training_ends_by_itself_it_is_said_when(tmp_path: Path, entry_for: Callable) -> None:
    ledger, found = Ledger(tmp_path), dict[str, Comparison]()
    for name, column in (("table", "reverse test coarse"), ("rates", "1e-3")):
        table = papers.table(f"grefenstette2015/{name}")
        cell = table.cell("Stack-LSTM, reverse" if name == "rates" else "Stack-LSTM", column)
        score = {"perplexity": 1.0} if name == "rates" else {}
        ended = (2_750, 30_000)
        ledger.add(table, [entry_for(cell, 1.0, s, steps=n, **score) for s, n in enumerate(ended)])
        (found[name],) = compare([cell], ledger.runs(papers.get("grefenstette2015")))
    said = "100.0 100.0; 2 of 3 runs; stopped after 2,750 >30,000 steps"
    assert found["table"].texts[-1] == said
    assert found["table"].as_json["steps"] == [2_750, 30_000]
    assert found["table"].as_json["stopped_early"] == [True, False]
    # Where the cell says how many there are, they are not said again.
    assert found["rates"].as_json["steps"] == []


def test_what_is_compared_is_the_run_that_is_chosen_where_the_paper_chose(
    tmp_path: Path, entry_for: Callable
) -> None:
    table, ledger = papers.table("grefenstette2015/table"), Ledger(tmp_path)
    cell, column = table.cell("Stack-LSTM", "reverse test coarse"), TABLE.cell("GRU +Attn", "jump")
    runs = [(0.0, 3.2), (1.0, 1.01), (0.5, 3.1)]
    for of, own in ((table, cell), (TABLE, column)):
        entries = [entry_for(own, score, s, perplexity=p) for s, (score, p) in enumerate(runs)]
        ledger.add(of, entries)
    (found,) = compare([cell], Ledger(tmp_path).runs(papers.get("grefenstette2015")))
    assert found.texts[3] == "50.0 ±40.8"
    assert (found.texts[7], found.verdict) == ("+0.0", "agrees")
    assert found.texts[-1].startswith("0.0 100.0 50.0; selected 100.0; 3 seeds; stopped after ")
    assert found.as_json["selected"] == 100.0
    console = Console(width=200)
    with console.capture() as captured:
        console.print(for_terminal(table, [found]))
    assert SELECTED in captured.get()
    (other,) = compare([column], Ledger(tmp_path).runs(PAPER))
    assert (other.selected, other.texts[7]) == (None, "+37.5")


def test_runs_that_are_not_chosen_do_not_widen_what_the_chosen_is_allowed() -> None:
    cell = papers.table("grefenstette2015/table").cell("Stack-LSTM", "reverse test coarse")
    assert cell.printed == "100"
    scores = (75.0, 0.0, 0.0)  # ±35.4: the mean of all, 25.0, would differ, and 75.0 overlap
    assert Comparison(cell=cell, scores=scores, selected=75.0).verdict == "differs"
    assert Comparison(cell=cell, scores=scores, selected=99.6).verdict == "agrees"


def test_no_run_is_chosen_while_the_perplexity_of_one_is_not_known(
    tmp_path: Path, entry_for: Callable
) -> None:
    table, ledger = papers.table("grefenstette2015/table"), Ledger(tmp_path)
    cell = table.cell("Stack-LSTM", "reverse test coarse")
    ledger.add(table, [entry_for(cell, 1.0, perplexity=1.01), entry_for(cell, 0.0, 1)])
    (found,) = compare([cell], Ledger(tmp_path).runs(papers.get("grefenstette2015")))
    assert (found.selected, found.difference, found.verdict) == (None, None, "not selected")


def test_a_run_that_diverged_after_the_weights_that_count_is_named(
    tmp_path: Path, entry_for: Callable
) -> None:
    ledger, cell = Ledger(tmp_path), TABLE.cell("GRU +Attn", "jump")
    ledger.add(TABLE, [entry_for(cell, 0.1), entry_for(cell, 0.12, 3, diverged=True)])
    (found,) = compare([cell], Ledger(tmp_path).runs(PAPER))
    assert found.texts[-1] == "10.0 12.0; 2 of 3 runs; seed 3 diverged"
    assert found.as_json["diverged"] == [3]


def test_a_run_that_diverged_before_a_figure_is_named_where_it_is_missing(
    tmp_path: Path, entry_for: Callable
) -> None:
    table = papers.table("ruis2020/curve")
    early, late = (table.cell("Baseline", column) for column in ("2,000", "20,000"))
    ledger = Ledger(tmp_path)
    whole = entry_for(early, 0.1, validation_curve={"2000": 0.1, "20000": 0.5})
    ledger.add(
        table, [whole, entry_for(early, 0.2, 3, validation_curve={"2000": 0.2}, diverged=True)]
    )
    first, last = compare([early, late], Ledger(tmp_path).runs(papers.get("ruis2020")))
    assert first.texts[-1].endswith("; seed 3 diverged")
    assert last.texts[-1] == "50.0; 1 of 3 runs; seed 3 diverged"


def test_runs_that_were_trained_again_are_shown_and_do_not_count(
    tmp_path: Path, entry_for: Callable
) -> None:
    table = papers.table("lake2018/experiments")
    plain, told = (table.cell("best", column) for column in ("length", "length, oracle"))
    ledger = Ledger(tmp_path)
    ledger.add(table, [entry_for(plain, 0.25, seed) for seed in (0, 1)])
    scores = {"test": {"exact": 0.75}, "length_oracle": {"exact": 0.5}}
    again = replace(entry_for(told, 0.5, **scores), date="2999-01-01T00:00:00+00:00")
    ledger.add(table, [again])
    found = compare([plain, told], ledger.runs(papers.get("lake2018")))
    assert [each.texts[-1] for each in found] == [
        "25.0 25.0; 2 of 5 runs; retrained 75.0",
        "50.0; 1 of 5 runs",
    ]
    assert found[0].texts[3] == "25.0 ±0.0"
    assert found[0].as_json["retrained"] == [75.0]
    console = Console(width=200)
    with console.capture() as captured:
        console.print(for_terminal(table, found))
    assert RETRAINED in captured.get()
    with console.capture() as captured:
        console.print(for_terminal(table, found[1:]))
    assert RETRAINED not in captured.get()


def test_a_figure_has_the_digits_that_the_paper_prints(entry_for: Callable) -> None:
    cell = papers.table("lake2018/experiments").cell("best overall", "jump")  # 0.08
    assert Comparison(cell=cell, scores=(0.1, 0.02)).texts[3] == "0.06 ±0.04"


def test_a_terminal_gets_title_figures_and_rule() -> None:
    comparisons = compare(PAPER.table("table6").cells, Ledger(Path("absent")).runs(PAPER))
    console = Console(width=120)
    with console.capture() as captured:
        console.print(for_terminal(PAPER.table("table6"), comparisons))
    said = " ".join(captured.get().split())
    assert said.startswith("bastings2018/table6: SCAN test scores for jump")
    assert said.count("not measured") == 63
    assert said.count("quoted") == 7
    assert "The paper disagrees with itself" in said
    assert "agrees: the distance is at most the published spread" in said


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_a_narrow_terminal_cuts_nothing(width: int) -> None:
    cells = [TABLE.cell("GRU +Attn", column) for column in TABLE.columns]
    comparisons = [Comparison(cell=cell, scores=(0.1234, 12.5, 100.0)) for cell in cells]
    console = Visible(io.StringIO(), width)
    with console.capture() as captured:
        console.print(for_terminal(TABLE, comparisons))
    lines = captured.get().splitlines()
    assert all(len(line) <= width for line in lines)
    assert "…" not in captured.get()
    printed = Counter("".join(captured.get().split()))
    texts = [*HEAD, *(text for each in comparisons for text in each.texts)]
    assert printed >= Counter("".join("".join(texts).split()))
    if width >= 80:
        words = captured.get().split()
        assert {word for text in texts for word in text.split()} <= set(words)


def test_a_table_shows_measured_beside_published_in_a_notebook(
    tmp_path: Path, entry_for: Callable
) -> None:
    cell = TABLE.cell("GRU +Attn", "jump")
    Ledger(tmp_path).add(TABLE, [entry_for(cell, 0.12, seed) for seed in (0, 1)])
    found = table(TABLE.path, results=tmp_path)
    assert repr(found) == "ComparedTable(bastings2018/table4: 44 cells, 1 measured; 1 agree)"
    (measured,) = [each for each in found if each.scores]
    said = "bastings2018/table4, GRU +Attn, jump: 12.0 ±0.0 measured, 12.5 ±6.6 published, agrees"
    assert repr(measured) == f"Comparison({said})"
    html = ElementTree.fromstring(found._repr_html_())
    rows = [[text.text or "" for text in row] for row in html.iterfind(".//tbody/tr")]
    assert len(rows) == len(TABLE.cells)
    assert ["GRU +Attn", "jump", "12.5 ±6.6", "12.0 ±0.0", "2", "agrees"] in rows
    assert all(len(repr(each)) < 100 for each in (TABLE, *TABLE.cells, *found))
