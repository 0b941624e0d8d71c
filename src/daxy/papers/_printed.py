"""Reading a table as it stands in print, so that its figures can be checked against the page.

A row is a line such as `RNN +Attn | 100.0 ±0.0 | 9.6 ±0.9`, or `L&B best | 99.8 | -`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from daxy.papers._paper import RunSpec, Table, TableCell

SpecOf = Callable[[str, str], RunSpec | None]
"""recipe_of(row, column) -> how to reproduce that cell, or None where it is quoted."""

COUNTED = "BLEU is sacreBLEU's, nrefs:1|case:mixed|eff:no|tok:none|smooth:exp."
"""How BLEU is counted where a paper's figures are trained again."""

_FIGURE = re.compile(r"(\d+(?:\.(\d+))?)(?: ±(\d+\.\d+))?")


def read_table(
    path: str,
    title: str,
    columns: Sequence[str],
    text: str,
    recipe_of: SpecOf,
    *,
    runs: int,
    note: str = "",
    differences: str = "",
    digits: int = 0,
    is_printed: bool = True,
    is_chosen: bool = False,
) -> Table:
    """Return the table that a text shows.

    Args:
        path: Paper and table, as `bastings2018/table4`.
        title: The printed caption, or its gist.
        columns: The columns' names.
        text: One line a row: its name, then its figures, `|` between; `-` where nothing is printed,
            `?` where something was measured and no figure is printed, as in a chart.
        recipe_of: How each cell is reproduced.
        runs: How many runs each of the paper's own figures is of.
        note: What a reader has to know besides.
        differences: Why measured values differ, see `Table`.
        digits: How many to show after the point where no figure is printed.
        is_printed: See `Table`.
        is_chosen: See `TableCell`.
    """
    lines = [[part.strip() for part in line.split("|")] for line in text.strip().splitlines()]
    cells = (
        replace(
            _cell(path, (row, column), figure, recipe_of(row, column), runs, digits),
            is_chosen=is_chosen,
        )
        for row, *figures in lines
        for column, figure in zip(columns, figures, strict=True)
        if figure != "-"
    )
    paper, _, name = path.partition("/")
    return Table(
        paper=paper,
        name=name,
        title=title,
        rows=tuple(row for row, *_ in lines),
        columns=tuple(columns),
        cells=tuple(cells),
        note=note,
        differences=differences,
        is_printed=is_printed,
    )


def _cell(
    path: str, place: tuple[str, str], figure: str, recipe: RunSpec | None, runs: int, digits: int
) -> TableCell:
    paper, _, table = path.partition("/")
    row, column = place
    match = _FIGURE.fullmatch(figure)
    assert match is not None or figure == "?", (path, place, figure)
    value, decimals, spread = match.groups() if match else (None, None, None)
    return TableCell(
        paper=paper,
        table=table,
        row=row,
        column=column,
        value=None if value is None else float(value),
        spread=None if spread is None else float(spread),
        runs=None if recipe is None else runs,
        recipe=recipe,
        digits=len(decimals or "") if match else digits,
    )
