"""The figures of Ruis et al. (2020), and the networks that they are of."""

import re
from dataclasses import replace

import numpy as np
import pytest

from daxy import papers
from daxy.reproduction import plan as reproduction
from daxy.tasks.gscan import CompositionalOptions

PAPER = papers.get("ruis2020")
TABLE_1 = papers.table("ruis2020/table1")
CURVE = papers.table("ruis2020/curve")

# Table 1 of the paper, as printed, with the test that a row is of.
PRINTED = {
    "A: Random": ("97.69 ±0.22", "A"),
    "B: Yellow squares": ("54.96 ±39.39", "B"),
    "C: Red squares": ("23.51 ±21.82", "C"),
    "D: Novel direction": ("0.00 ±0.00", "D"),
    "E: Relativity": ("35.02 ±2.35", "E"),
    "F: Class inference": ("92.52 ±6.75", "F"),
    "G: Adverb k = 1": ("0.00 ±0.00", "G"),
    "G: Adverb k = 5": ("0.47 ±0.14", "G"),
    "G: Adverb k = 10": ("2.04 ±0.95", "G"),
    "G: Adverb k = 50": ("4.63 ±2.08", "G"),
    "H: Adverb to verb": ("22.70 ±4.59", "H"),
    "I: Length": ("2.10 ±0.05", "I"),
}

# Of the authors' training logs, after so many steps: three of the set with one shot, and three each
# of those with 5, 11 and 51.
LOGS = {
    "1,000": (*(7.8, 7.5, 6.1), *(6.5, 5.8, 6.5, 7.35, 7.7, 6.9, 6.95, 5.95, 7.2)),
    "2,000": (*(11.9, 12.4, 12.6), *(11.2, 13.5, 10.8, 11.45, 10.95, 12.35, 12.35, 11.9, 11.45)),
    "5,000": (*(30.5, 38.1, 37.6), *(23.1, 30.25, 31.25, 31.05, 29.5, 25.7, 26.55, 24.15, 22.8)),
    "10,000": (*(69.3, 70.9, 72.5), *(67.95, 70.25, 72.95, 68.65, 72.75, 65.7, 64.25, 70.75, 64.5)),
    "15,000": (*(79.5, 83.8, 83.1), *(80.35, 80.55, 80.9, 82.85, 82.7, 81, 80.25, 81.35, 78.2)),
    "20,000": (*(84.8, 87.9, 87.7), *(87.45, 85.85, 85.4, 87.15, 85.95, 87.75, 85.8, 87.9, 84.65)),
    "30,000": (*(89.1, 92.3, 92.5), *(90.85, 91.4, 89.6, 92.15, 92.9, 90.6, 91.4, 91.95, 90.5)),
    "50,000": (*(94.3, 96.5, 95.2), *(95.6, 95.15, 93.65, 95.8, 95.9, 94.75, 95.7, 95.6, 94.9)),
    "100,000": (*(97, 98.1, 98.1), *(97.2, 96.9, 96.75, 97.75, 97.4, 97, 97.9, 97.5, 97.05)),
    "200,000": (*(98.2, 98.7, 98.4), *(98.75, 98.7, 98.4, 98.95, 98.1, 98.3, 98.55, 98.95, 98)),
}

# Of their three logs with GECA.
GECA_LOGS = {
    "1,000": (7.65, 6.35, 5.6),
    "2,000": (11.45, 11.55, 11.25),
    "5,000": (28.95, 27.1, 33.2),
    "10,000": (65.2, 65.2, 61.7),
    "15,000": (76.6, 74.45, 75.35),
    "20,000": (80.15, 79.65, 80),
    "30,000": (83.85, 84.85, 85.15),
    "50,000": (89.05, 88.3, 88.9),
    "100,000": (90.4, 89.95, 91),
    "200,000": (92.05, 89.75, 91.4),
}

# Of their three logs on the set of test I.
LENGTH_LOGS = {
    "1,000": (4.89, 10.43, 5.82),
    "2,000": (10.27, 14.61, 10.43),
    "5,000": (20.21, 25.21, 22.79),
    "10,000": (42.61, 35.42, 31.25),
    "15,000": (59.2, 37.95, 33.72),
    "20,000": (64.09, 44.21, 35.26),
    "30,000": (77.32, 82.43, 67.16),
    "50,000": (90.39, 92.37, 88.41),
    "100,000": (94.51, 95.99, 93.03),
    "200,000": (95.72, 96.76, 95.28),
}

GECA = {
    "A: Random": "87.60 ±1.19",
    "B: Yellow squares": "34.92 ±39.30",
    "C: Red squares": "78.77 ±6.63",
    "D: Novel direction": "0.00 ±0.00",
    "E: Relativity": "33.19 ±3.69",
    "F: Class inference": "85.99 ±0.85",
    "G: Adverb k = 1": "0.00 ±0.00",
    "H: Adverb to verb": "11.83 ±0.31",
}


def test_the_other_column_is_the_same_network_with_ten_thousand_examples_more() -> None:
    cells = [cell for cell in TABLE_1.cells if cell.column == "GECA"]
    assert {cell.row: cell.printed for cell in cells} == GECA
    for cell in cells:
        beside = TABLE_1.cell(cell.row, "Baseline")
        assert cell.recipe is not None
        assert beside.recipe is not None
        assert replace(cell.recipe, geca=None) == beside.recipe
        augmentation = reproduction.learner_of(cell.recipe).geca
        assert augmentation is not None
        assert (augmentation.count, augmentation.max_piece_length, augmentation.max_pieces) == (
            10_000,
            1,
            2,
        )


def test_the_rows_are_those_that_are_printed() -> None:
    assert TABLE_1.rows == tuple(PRINTED)
    assert CURVE.columns == tuple(LOGS) == tuple(GECA_LOGS) == tuple(LENGTH_LOGS)


@pytest.mark.parametrize("row", PRINTED)
def test_a_figure_is_as_printed_and_of_its_test(row: str) -> None:
    cell = TABLE_1.cell(row, "Baseline")
    assert cell.recipe is not None
    assert (cell.printed, cell.recipe.test) == PRINTED[row]
    learner = reproduction.learner_of(cell.recipe)
    assert learner.config.kernel_sizes == ("1,5,13" if row[0] == "I" else "1,5,7")
    assert (learner.training.budget.steps, learner.training.batch_size, cell.runs) == (
        200_000,
        200,
        3,
    )


@pytest.mark.parametrize(("shots", "given"), [(1, 1), (5, 5), (10, 11), (50, 51)])
def test_shots_are_as_many_as_the_released_sets_have(shots: int, given: int) -> None:
    cell = TABLE_1.cell(f"G: Adverb k = {shots}", "Baseline")
    assert cell.recipe is not None
    data = reproduction.data_of(cell.recipe)
    assert isinstance(data, CompositionalOptions)
    assert data.shots == given


@pytest.mark.parametrize("steps", LOGS)
def test_the_curve_is_the_mean_of_the_logs(steps: str) -> None:
    for row, logs in {"Baseline": LOGS, "GECA": GECA_LOGS, "Length": LENGTH_LOGS}.items():
        cell = CURVE.cell(row, steps)
        assert cell.value == pytest.approx(np.mean(logs[steps]), abs=0.051)
        assert cell.spread == pytest.approx(np.std(logs[steps]), abs=0.051)
        assert cell.recipe is not None
        assert cell.recipe.after_steps == int(steps.replace(",", ""))
        learner = reproduction.learner_of(cell.recipe)
        assert (learner.geca is not None) == (row == "GECA")
        assert learner.config.kernel_sizes == ("1,5,13" if row == "Length" else "1,5,7")
        assert learner.training.budget.steps == (
            20_000 if cell.recipe.after_steps <= 20_000 else 200_000
        )


def test_all_splits_but_few_shots_and_length_are_judged_by_the_same_runs() -> None:
    cells = {row: TABLE_1.cell(row, "Baseline") for row in PRINTED}
    runs = {row: cell.recipe.identity for row, cell in cells.items() if cell.recipe}
    shared = {row for row, run in runs.items() if run == runs["A: Random"]}
    assert shared == {row for row in PRINTED if row[0] in "ABCDEFH" or row.endswith("k = 1")}


REFERENTS = """
red small square | 13.09 ±14.07 | 78.64 ±1.10
red big square   | 11.03 ±10.29 | 77.88 ±0.95
red square       | 8.48 ±0.90   | 97.95 ±0.14
small square     | 27.13 ±41.38 | 66.26 ±13.60
big square       | 22.96 ±32.20 | 68.09 ±20.90
square           | 52.92 ±36.81 | 95.09 ±7.42
"""
"""Table 2, with the color before the size."""


@pytest.mark.parametrize("line", REFERENTS.strip().splitlines())
def test_a_figure_of_table_2_is_as_printed(line: str) -> None:
    phrase, *printed = (each.strip() for each in line.split("|"))
    place = ("C", phrase)
    found = [
        each for each in PAPER.findings if each.analysis == "by_referent" and place in each.values
    ]
    assert [each.recipe.geca is None for each in found] == [True, False]
    said = [f"{each.values[place]:.2f} ±{each.spreads[place]:.2f}" for each in found]
    assert said == printed


@pytest.mark.parametrize(
    ("analysis", "place", "printed"),
    [
        ("destinations", ("D", "right row or column"), [(63.10, 3.90), (58.85, 3.45)]),
        ("by_length", ("tokens in the target", "16"), [(19.32, 0.02)]),
        ("by_length", ("tokens in the target", "17"), [(1.71, 0.38)]),
        ("attention", ("A", "all episodes"), [(94, None)]),
        ("attention", ("B", "errors"), [(0.08, None)]),
        ("attention", ("C", "errors"), [(47, None)]),
        ("attention", ("E", "errors"), [(4, None)]),
    ],
)
def test_what_the_text_says_of_an_analysis_is_as_printed(
    analysis: str, place: tuple[str, str], printed: list[tuple[float, float | None]]
) -> None:
    found = [each for each in PAPER.findings if each.analysis == analysis and place in each.values]
    assert [(each.values[place], each.spreads.get(place)) for each in found] == printed
    assert {each.test for each in found} == {"I" if analysis == "by_length" else place[0]}


@pytest.mark.parametrize(
    ("analysis", "test", "printed"),
    [
        ("by_referent", "E", ["53.00 ±1.36", "47.51 ±12.59"]),
        ("by_situation", "A", ["96.64 ±0.52", "86.72 ±1.23"]),
        ("by_length", "A", ["94.98 ±0.1"]),
        ("by_length", "I", ["targets of 18 tokens and more less than 1%"]),
    ],
)
def test_the_figures_of_a_note_are_as_printed(analysis: str, test: str, printed: list[str]) -> None:
    found = [each for each in PAPER.findings if (each.analysis, each.test) == (analysis, test)]
    for each, figure in zip(found, printed, strict=True):
        assert re.search(rf"(?<!\d){figure}(?!\d)", each.note)
