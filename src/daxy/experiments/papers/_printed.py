"""Reading a table as it stands in print, so that its figures can be checked against the page.

A row is a line such as `RNN +Attn | 100.0 ±0.0 | 9.6 ±0.9`, or `L&B best | 99.8 | -`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from daxy.experiments.papers._paper import Cell, Recipe, Table

RecipeOf = Callable[[str, str], Recipe | None]
"""recipe_of(row, column) -> how to reproduce that cell, or None where it is quoted."""

_FIGURE = re.compile(r"(\d+\.\d+)(?: ±(\d+\.\d+))?")


def read_table(
    path: str,
    title: str,
    columns: Sequence[str],
    text: str,
    recipe_of: RecipeOf,
    *,
    runs: int,
    note: str = "",
) -> Table:
    """Return the table that a text shows.

    Args:
        path: Paper and table, as `bastings2018/table4`.
        title: The printed caption, or its gist.
        columns: The columns' names.
        text: One line a row: its name, then its figures, `|` between; `-` where nothing is printed.
        recipe_of: How each cell is reproduced.
        runs: How many runs each of the paper's own figures is of.
        note: What a reader has to know besides.
    """
    paper, _, name = path.partition("/")
    lines = [[part.strip() for part in line.split("|")] for line in text.strip().splitlines()]

    def cells() -> Iterator[Cell]:
        for row, *figures in lines:
            for column, figure in zip(columns, figures, strict=True):
                if figure == "-":
                    continue
                value, spread = _figure(figure)
                recipe = recipe_of(row, column)
                yield Cell(
                    paper=paper,
                    table=name,
                    row=row,
                    column=column,
                    value=value,
                    spread=spread,
                    runs=None if recipe is None else runs,
                    recipe=recipe,
                )

    rows = tuple(row for row, *_ in lines)
    return Table(
        paper=paper,
        name=name,
        title=title,
        rows=rows,
        columns=tuple(columns),
        cells=tuple(cells()),
        note=note,
    )


def _figure(text: str) -> tuple[float, float | None]:
    match = _FIGURE.fullmatch(text)
    assert match is not None, text
    value, spread = match.groups()
    return float(value), None if spread is None else float(spread)
