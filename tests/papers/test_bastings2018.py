"""The tables of Bastings et al. (2018); the expected figures are from the paper."""

import itertools

import numpy as np
import pytest

from daxy import papers
from daxy.papers import Table, TableCell

PAPER = papers.get("bastings2018")
TABLES = {table.name: table for table in PAPER.tables}

DISAGREEMENTS = {
    "GRU": ("0.1 ±0.0", "0.0 ±0.0"),
    "RNN +Attn": ("3.5 ±3.0", "1.9 ±1.2"),
    "LSTM +Attn": ("7.8 ±0.9", "9.7 ±2.9"),
    "LSTM +Attn-Dep": ("0.8 ±0.6", "0.8 ±0.5"),
}
"""Column 0 of Table 6 and the jump column of Table 4, where they differ."""


@pytest.mark.parametrize(
    ("name", "rows", "columns", "quoted", "empty"),
    [
        ("table1", 7, 8, 8, 8),
        ("table2", 9, 6, 6, 0),
        ("table4", 11, 4, 8, 0),
        ("table5", 9, 4, 0, 0),
        ("table6", 10, 7, 7, 0),
        ("table7", 9, 7, 0, 0),
        ("table3", 2, 2, 0, 0),
        ("table8", 6, 2, 0, 0),
        ("table9", 6, 2, 0, 0),
        ("table10", 6, 2, 0, 0),
    ],
)
def test_every_cell_is_there(name: str, rows: int, columns: int, quoted: int, empty: int) -> None:
    table = TABLES[name]
    assert (len(table.rows), len(table.columns)) == (rows, columns)
    assert len(table.cells) == rows * columns - empty
    foreign = [cell for cell in table.cells if cell.recipe is None]
    assert len(foreign) == quoted
    assert all(cell.row.startswith("L&B") and cell.spread is None for cell in foreign)
    own = [cell for cell in table.cells if cell.recipe]
    assert all(cell.runs == 3 and cell.spread is not None for cell in own)


@pytest.mark.parametrize(
    ("place", "printed", "task"),
    [
        ("table1/GRU/turn_left NACS", "47.5 ±4.7", "nacs/addprim_turn_left"),
        ("table1/L&B best overall/length SCAN", "13.8", None),
        ("table2/GRU +Attn -Dep SCAN/1", "70.9 ±11.5", "scan/bastings_jump_num1"),
        ("table2/RNN +Attn NACS/32", "69.1 ±2.1", "nacs/bastings_jump_num32"),
        ("table4/RNN/simple", "75.6 ±5.4", "scan/simple"),
        ("table4/LSTM +Attn-Dep/turn_left", "57.6 ±3.8", "scan/addprim_turn_left"),
        ("table4/L&B best/jump", "1.2", None),
        ("table5/GRU +Attn/simple", "99.8 ±0.1", "nacs/simple"),
        ("table5/LSTM +Attn/length", "17.1 ±2.0", "nacs/length"),
        ("table6/LSTM +Attn-Dep/2", "43.6 ±17.6", "scan/bastings_jump_num2"),
        ("table6/L&B/16", "70.2", None),
        ("table7/GRU/32", "20.8 ±2.2", "nacs/bastings_jump_num32"),
        ("table3/GRU +Attn -Dep/Fr-En", "35.9 ±0.3", "translation/daxy_fr_en"),
        ("table8/RNN +Attn/En-Fr", "29.1 ±0.4", "translation/daxy"),
        ("table8/RNN +Attn-Dep/Fr-En", "32.9 ±0.8", "translation/daxy_fr_en"),
        ("table8/LSTM +Attn/Fr-En", "36.9 ±1.1", "translation/daxy_fr_en"),
        ("table8/LSTM +Attn-Dep/En-Fr", "28.7 ±0.2", "translation/daxy"),
        ("table9/RNN +Attn/En-Fr", "79.2 ±15.6", "translation/daxy"),
        ("table9/LSTM +Attn/Fr-En", "41.7 ±15.6", "translation/daxy_fr_en"),
        ("table9/LSTM +Attn-Dep/En-Fr", "50.0 ±10.2", "translation/daxy"),
        ("table10/RNN +Attn/Fr-En", "20.8 ±5.9", "translation/daxy_fr_en"),
        ("table10/RNN +Attn-Dep/Fr-En", "29.2 ±15.6", "translation/daxy_fr_en"),
        ("table10/GRU +Attn/En-Fr", "62.5 ±0.0", "translation/daxy"),
    ],
)
def test_a_cell_has_its_printed_figure_and_its_task(
    place: str, printed: str, task: str | None
) -> None:
    table, row, column = place.split("/")
    cell = TABLES[table].cell(row, column)
    assert cell.printed == printed
    assert (cell.recipe.task if cell.recipe else None) == task


@pytest.mark.parametrize(
    ("row", "config"),
    [
        ("RNN", {"cell": "srn", "attention": False, "dependency": True}),
        ("GRU +Attn", {"cell": "gru", "attention": True, "dependency": True}),
        ("LSTM +Attn-Dep", {"cell": "lstm", "attention": True, "dependency": False}),
    ],
)
def test_a_row_is_its_network(row: str, config: dict[str, object]) -> None:
    others = [] if row == "RNN" else ["table8"]
    for name in ("table4", "table5", "table6", "table7", *others):
        recipes = [cell.recipe for cell in TABLES[name].select([row], [])]
        assert all(recipe and recipe.config == config for recipe in recipes)


@pytest.mark.parametrize("name", TABLES)
def test_scan_is_scored_by_exact_match_and_nacs_by_back_mapping(name: str) -> None:
    for recipe in (cell.recipe for cell in TABLES[name].cells if cell.recipe):
        translated = "bleu" if recipe.test == "sentences" else "exact"
        wanted = {"scan": "exact", "nacs": "back_mapping", "translation": translated}
        assert recipe.metric == wanted[recipe.task.partition("/")[0]]


def twins(table: Table, others: list[Table]) -> list[tuple[TableCell, TableCell]]:
    """Pair the cells of a table with those of others that have the same recipe."""
    by_spec = {cell.recipe.identity: cell for t in others for cell in t.cells if cell.recipe}
    return [(cell, by_spec[cell.recipe.identity]) for cell in table.cells if cell.recipe]


def test_table_1_prints_what_tables_4_and_5_print() -> None:
    pairs = twins(TABLES["table1"], [TABLES["table4"], TABLES["table5"]])
    assert len(pairs) == 40
    assert all(one.printed == other.printed for one, other in pairs)


def test_table_3_prints_what_table_8_prints() -> None:
    pairs = twins(TABLES["table3"], [TABLES["table8"]])
    assert len(pairs) == 4
    assert all(one.printed == other.printed for one, other in pairs)


def test_tables_8_to_10_are_of_the_same_runs() -> None:
    tables = [TABLES[name] for name in ("table8", "table9", "table10")]
    for place in [(cell.row, cell.column) for cell in tables[0].cells]:
        recipes = [table.cell(*place).recipe for table in tables]
        assert len({recipe.identity for recipe in recipes if recipe}) == 1
        assert [recipe.test for recipe in recipes if recipe] == [
            "sentences",
            "new_word",
            "control",
        ]


@pytest.mark.parametrize("name", ["table9", "table10"])
def test_accuracies_of_eight_sentences_can_be_those_of_three_runs(name: str) -> None:
    """A figure is the mean of three counts out of eight, with their population's deviation."""
    possible = {
        f"{100 * np.mean(runs) / 8:.1f} ±{100 * np.std(runs) / 8:.1f}"
        for runs in itertools.combinations_with_replacement(range(9), 3)
    }
    assert {cell.printed for cell in TABLES[name].cells} <= possible


def test_table_2_prints_what_tables_6_and_7_print() -> None:
    pairs = twins(TABLES["table2"], [TABLES["table6"], TABLES["table7"]])
    assert len(pairs) == 48
    assert all(one.printed == other.printed for one, other in pairs)


def test_quoted_rows_agree_between_tables() -> None:
    for row in ("L&B best", "L&B best overall"):
        for split in ("simple", "length", "turn_left", "jump"):
            one = TABLES["table1"].cell(row, f"{split} SCAN")
            assert one.value == TABLES["table4"].cell(row, split).value
    for count in TABLES["table2"].columns:
        one = TABLES["table2"].cell("L&B SCAN", count)
        assert one.value == TABLES["table6"].cell("L&B", count).value


def test_the_paper_disagrees_with_itself_where_the_note_says_so() -> None:
    zero, jump = TABLES["table6"], TABLES["table4"]
    rows = [row for row in zero.rows if row != "L&B"]
    printed = {row: (zero.cell(row, "0").printed, jump.cell(row, "jump").printed) for row in rows}
    assert {row: both for row, both in printed.items() if both[0] != both[1]} == DISAGREEMENTS
    assert all(row in zero.note for row in DISAGREEMENTS)
    for row in TABLES["table7"].rows:
        assert TABLES["table7"].cell(row, "0").printed == TABLES["table5"].cell(row, "jump").printed
