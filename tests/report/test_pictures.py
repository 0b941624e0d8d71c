"""Pictures of tables: what stands where."""

import numpy as np
import pytest

from daxy import papers
from daxy.core.errors import WrongRequest
from daxy.papers import Table
from daxy.report import pictures
from daxy.report.comparison import Comparison
from daxy.report.tables import compare
from daxy.reproduction.ledger import Runs

CURVE, TABLE_4 = papers.table("ruis2020/curve"), papers.table("bastings2018/table4")


def beside(table: Table, row: str, column: str, *scores: float) -> list[Comparison]:
    """Return a table's comparisons with one cell measured."""
    measured = table.cell(row, column)
    return [
        Comparison(cell=cell, scores=scores if cell == measured else ()) for cell in table.cells
    ]


def test_columns_that_are_numbers_make_a_curve_for_each_measured_row() -> None:
    figure = pictures.published(CURVE, beside(CURVE, "Baseline", "5,000", 20.0, 30.0))
    (axes,) = figure.axes
    assert axes.get_title() == "Baseline"
    assert [text.get_text() for text in axes.get_xticklabels()] == list(CURVE.columns)
    published, measured = axes.containers
    printed = [CURVE.cell("Baseline", column).value for column in CURVE.columns]
    np.testing.assert_array_equal(published.lines[0].get_ydata(), printed)
    np.testing.assert_array_equal(measured.lines[0].get_ydata(), [25.0])
    (place,) = measured.lines[0].get_xdata()
    assert round(float(place)) == CURVE.columns.index("5,000")
    runs = axes.collections[-1]
    np.testing.assert_array_equal(runs.get_offsets()[:, 1], [20.0, 30.0])


def test_the_run_that_is_compared_has_a_ring_among_all() -> None:
    cell = papers.table("grefenstette2015/table").cell("Stack-LSTM", "reverse test coarse")
    table = papers.table("grefenstette2015/table")
    for chosen, labels in ((75.0, ["each seed", "selected"]), (None, ["each seed"])):
        measured = Comparison(cell=cell, scores=(75.0, 0.0), selected=chosen)
        (axes,) = pictures.published(table, [measured]).axes
        marks = {each.get_label(): each for each in axes.collections}
        assert [label for label in marks if label in ("each seed", "selected")] == labels
        if chosen is not None:
            ring, runs = (marks[label].get_offsets() for label in reversed(labels))
            np.testing.assert_array_equal(ring, runs[:1])


def test_the_shorter_side_of_a_table_of_names_makes_the_panels() -> None:
    figure = pictures.published(TABLE_4, compare(TABLE_4.cells, Runs({})))
    assert [axes.get_title() for axes in figure.axes] == list(TABLE_4.columns)
    for axes in figure.axes:
        (published,) = axes.containers
        printed = [cell.value for cell in TABLE_4.select([], [axes.get_title()])]
        np.testing.assert_array_equal(published.lines[0].get_ydata(), printed)


@pytest.mark.slow
@pytest.mark.parametrize(
    "table", [each for name in papers.available() for each in papers.get(name).tables], ids=str
)
def test_every_table_is_drawn_or_refused(table: Table) -> None:
    comparisons = compare(table.cells, Runs({}))
    if all(cell.value is None for cell in table.cells):
        with pytest.raises(WrongRequest, match="nothing to draw"):
            pictures.published(table, comparisons)
    else:
        titles = {axes.get_title() for axes in pictures.published(table, comparisons).axes}
        assert titles - {""} <= {*table.rows, *table.columns}


def test_long_names_take_nothing_from_their_panels() -> None:
    variants = papers.table("bastings2018/variants")
    assert max(map(len, variants.rows)) > 2 * pictures.LONG
    drawn = pictures.published(variants, compare(variants.cells, Runs({})))
    drawn.canvas.draw()
    for axes in drawn.axes:
        assert axes.get_window_extent().height / drawn.dpi > 2  # inches


@pytest.mark.parametrize(("least", "most", "labelled"), [(75.0, 130.0, "80"), (1.0, 130.0, "10")])
def test_perplexities_are_plain_numbers_on_an_axis_of_factors(
    least: float, most: float, labelled: str
) -> None:
    rates = papers.table("grefenstette2015/rates")
    drawn = pictures.published(rates, beside(rates, "Queue-LSTM, copy", "1e-3", least, most))
    drawn.canvas.draw()
    (axes,) = drawn.axes
    assert axes.get_yscale() == "log"
    lowest, highest = axes.get_ylim()
    shown = {
        text.get_text()
        for minor in (False, True)
        for text, place in zip(
            axes.get_yticklabels(minor=minor), axes.get_yticks(minor=minor), strict=True
        )
        if text.get_text() and lowest <= place <= highest
    }
    assert labelled in shown
    assert all(text.isdigit() for text in shown), shown


def test_panels_of_many_cells_stand_below_each_other() -> None:
    grid = papers.table("lake2018/grid")
    drawn = pictures.published(grid, [Comparison(cell=cell, scores=(50.0,)) for cell in grid.cells])
    lefts = {round(axes.get_subplotspec().get_position(drawn).x0, 6) for axes in drawn.axes}
    assert len(drawn.axes) == len(grid.columns)
    assert len(lefts) == 1
