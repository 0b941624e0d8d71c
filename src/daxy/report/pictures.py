"""Pictures of published tables with measured values beside."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from daxy.core.errors import require
from daxy.papers import Table
from daxy.report._figure import new_figure
from daxy.report.tables import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACROSS, WIDE = 4, 16
"""Panels beside each other, and cells in a panel that has none beside it."""
SHORT = 3
"""Letters of the longest name under an axis for all names to stand upright."""
LONG = 24
"""Letters of a name aslant that a panel has room for as it is."""
LETTER = 0.09
"""Width of a letter of a title, in inches."""
LEGEND = 5.0
"""Inches across that the legend below the panels needs."""
PUBLISHED, MEASURED = "0.55", "C0"


def published(table: Table, comparisons: Sequence[Comparison]) -> Figure:
    """Return figures of a table beside those measured: mean and deviation of both, and every run.

    Where columns are numbers each row is a curve in a panel of its own; else a panel is a row or a
    column, whichever there are fewer of. If anything was measured, rows without are left out.

    Raises:
        WrongRequest: nothing is printed or measured.
    """
    measured = {each.cell.row for each in comparisons if each.scores}
    shown = [each for each in comparisons if not measured or each.cell.row in measured]
    shown = [each for each in shown if each.scores or each.cell.value is not None]
    require(bool(shown), f"{table.path}: nothing to draw, neither published nor measured scores")
    rows = list(dict.fromkeys(each.cell.row for each in shown))
    present = {each.cell.column for each in shown}
    columns = [column for column in table.columns if column in present]
    numbered = all(column[0].isdigit() for column in columns)
    by_row = numbered or len(rows) <= len(columns)
    panels, places = (rows, columns) if by_row else (columns, rows)
    cells = {(each.cell.row, each.cell.column): each for each in shown}
    are_shares = not any(each.cell.recipe and each.cell.recipe.unit == 1 for each in shown)
    unit = "per cent" if are_shares else "perplexity"
    figure, every = _panels(f"{table.path}: {table.title}", unit, len(panels), places)
    for axes, panel in zip(every, panels, strict=True):
        names = [(panel, place) if by_row else (place, panel) for place in places]
        _compared(axes, [cells.get(name) for name in names], connected=numbered)
        _name(axes, panel, places)
        if are_shares:
            axes.set_ylim(-3, 103)
        else:
            _logarithmic(axes)
    _explain(figure, every)
    return figure


def _logarithmic(axes: Axes) -> None:
    """Have the axis go up by factors, with plain numbers."""
    from matplotlib.ticker import LogFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(LogFormatter())
    axes.yaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False))


def _panels(title: str, unit: str, count: int, places: Sequence[str]) -> tuple[Figure, list[Axes]]:
    """Return a figure with a title, and its panels, each with room for places and their names."""
    across = min(count, ACROSS if len(places) < WIDE else 1)
    down = -(-count // across)
    width = max(LEGEND, across * (1.4 + max(0.4 * len(places), 2.4)))
    longest = max(map(len, places))
    figure = new_figure(width, 1 + down * (3.2 + LETTER * max(0, longest - LONG)))
    lines = textwrap.wrap(title, int(width / LETTER))
    figure.suptitle("\n".join(lines), fontsize="medium")
    figure.supylabel(unit, fontsize="medium")
    every = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
    for axes in every[count:]:
        axes.set_axis_off()
    return figure, list(every[:count])


def _name(axes: Axes, title: str, places: Sequence[str]) -> None:
    """Give a panel its title, and its places their names: aslant where they are long."""
    turned: dict[str, Any] = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"}
    axes.set_title(title, fontsize="medium")
    axes.tick_params(labelsize="small")
    axes.set_xticks(range(len(places)), places, **(turned if max(map(len, places)) > SHORT else {}))
    axes.set_xlim(-0.5, len(places) - 0.5)
    axes.grid(alpha=0.3)


def _explain(figure: Figure, panels: Sequence[Axes]) -> None:
    """Say under a figure what its marks are, each once."""
    handles = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        list(handles.values()), list(handles), loc="outside lower center", ncols=3, frameon=False
    )


def _compared(axes: Axes, cells: Sequence[Comparison | None], *, connected: bool) -> None:
    """Draw the published figures, and beside each the mean of those measured and every run.

    A ring marks the selected run, which is compared in place of the mean.
    """
    line, aside = ("-", 0.06) if connected else ("none", 0.14)
    there = [(place, cell) for place, cell in enumerate(cells) if cell]
    printed = [
        (place - aside, cell.cell.value, cell.cell.spread or 0)
        for place, cell in there
        if cell.cell.value is not None
    ]
    found = [
        (place + aside, cell.summary.mean, cell.summary.deviation)
        for place, cell in there
        if cell.summary
    ]
    runs = [(place + 2 * aside, score) for place, cell in there for score in cell.scores]
    for points, label, color, marker in (
        (printed, "published", PUBLISHED, "s"),
        (found, "measured", MEASURED, "o"),
    ):
        if points:
            place, mean, deviation = zip(*points, strict=True)
            look: dict[str, Any] = {"color": color, "marker": marker, "markerfacecolor": "white"}
            axes.errorbar(place, mean, deviation, label=label, linestyle=line, capsize=3, **look)
    if runs:
        axes.scatter(*zip(*runs, strict=True), s=8, color="black", zorder=3, label="each seed")
    rings = [
        (place + 2 * aside, cell.selected) for place, cell in there if cell.selected is not None
    ]
    if rings:
        look = {"s": 40, "facecolors": "none", "edgecolors": "black", "zorder": 3}
        axes.scatter(*zip(*rings, strict=True), **look, label="selected")
