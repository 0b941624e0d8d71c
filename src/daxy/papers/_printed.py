"""Parse tables in their printed layout, so that values can be checked against the page.

A row is a line such as `RNN +Attn | 100.0 ±0.0 | 9.6 ±0.9`, or `L&B best | 99.8 | -`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from daxy.papers._paper import RunSpec, Table, TableCell

SpecOf = Callable[[str, str], RunSpec | None]
"""spec_of(row, column) -> the specification of a cell; None for a quoted score."""

COUNTED = "BLEU is sacreBLEU's, nrefs:1|case:mixed|eff:no|tok:none|smooth:exp."
"""Note on how BLEU is computed for measured scores."""

_VALUE = re.compile(r"(\d+(?:\.(\d+))?)(?: ±(\d+\.\d+))?")


def read_table(
    path: str,
    title: str,
    columns: Sequence[str],
    text: str,
    spec_of: SpecOf,
    *,
    runs: int,
    note: str = "",
    differences: str = "",
    digits: int = 0,
    is_printed: bool = True,
    is_chosen: bool = False,
) -> Table:
    """Return the table in a text.

    Args:
        path: Full name of the table, such as `bastings2018/table4`.
        title: Printed caption or a summary of it.
        columns: Names of the columns.
        text: One row a line: name and values, separated by `|`. `-` is an empty cell; `?` is a
            cell without a printed number, as in a chart.
        spec_of: Returns the specification of each cell.
        runs: Number of runs behind each value of the paper.
        note: See `Table`.
        differences: See `Table`.
        digits: Decimals of cells without a printed number.
        is_printed: See `Table`.
        is_chosen: See `TableCell`.
    """
    lines = [[part.strip() for part in line.split("|")] for line in text.strip().splitlines()]
    cells = (
        replace(
            _cell(path, (row, column), value, spec_of(row, column), runs, digits),
            is_chosen=is_chosen,
        )
        for row, *values in lines
        for column, value in zip(columns, values, strict=True)
        if value != "-"
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
    path: str, names: tuple[str, str], text: str, recipe: RunSpec | None, runs: int, digits: int
) -> TableCell:
    paper, _, table = path.partition("/")
    row, column = names
    match = _VALUE.fullmatch(text)
    assert match is not None or text == "?", (path, names, text)
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
