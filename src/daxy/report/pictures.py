"""Figures of published tables with measured values."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from daxy.core.errors import require
from daxy.papers import Table
from daxy.report._figure import new_figure
from daxy.report.comparison import PER_CENT, Comparison, unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_COLUMNS, WIDE = 4, 16
"""Panels in a row, and points in a panel that has a row of its own."""
SHORT = 3
"""Letters of the longest tick label for all labels to be horizontal."""
LONG = 24
"""Letters of a slanted tick label that a panel has room for."""
LETTER = 0.09
"""Width of a letter of a title, in inches."""
LEGEND = 5.0
"""Minimum width of the figure, for the legend, in inches."""
PUBLISHED, MEASURED = "0.55", "C0"


def published(table: Table, comparisons: Sequence[Comparison]) -> Figure:
    """Return a figure of published and measured values: means, deviations and every run.

    Where columns are numbers, each row is a curve in a panel of its own. Else a panel is a row or a
    column, whichever there are fewer of. If anything is measured, only measured rows are drawn.

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
    are_numbers = all(column[0].isdigit() for column in columns)
    by_row = are_numbers or len(rows) <= len(columns)
    panels, names = (rows, columns) if by_row else (columns, rows)
    cells = {(each.cell.row, each.cell.column): each for each in shown}
    unit = next((it for it in (unit_of(each.cell) for each in shown) if it != PER_CENT), PER_CENT)
    figure, all_axes = _panels(f"{table.path}: {table.title}", unit, len(panels), names)
    for axes, panel in zip(all_axes, panels, strict=True):
        keys = [(panel, name) if by_row else (name, panel) for name in names]
        _draw(axes, [cells.get(key) for key in keys], connected=are_numbers)
        _label(axes, panel, names)
        _scale(axes, unit)
    _add_legend(figure, all_axes)
    return figure


def _scale(axes: Axes, unit: str) -> None:
    """Scale the axis linearly for shares, else logarithmically with plain numbers."""
    from matplotlib.ticker import LogFormatter

    if unit == PER_CENT:
        axes.set_ylim(-3, 103)
        return
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(LogFormatter())
    axes.yaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False))


def _panels(title: str, unit: str, count: int, names: Sequence[str]) -> tuple[Figure, list[Axes]]:
    """Return a figure with a title, and panels with room for tick labels with these names."""
    across = min(count, MAX_COLUMNS if len(names) < WIDE else 1)
    down = -(-count // across)
    width = max(LEGEND, across * (1.4 + max(0.4 * len(names), 2.4)))
    longest = max(map(len, names))
    figure = new_figure(width, 1 + down * (3.2 + LETTER * max(0, longest - LONG)))
    lines = textwrap.wrap(title, int(width / LETTER))
    figure.suptitle("\n".join(lines), fontsize="medium")
    figure.supylabel(unit, fontsize="medium")
    panels = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
    for axes in panels[count:]:
        axes.set_axis_off()
    return figure, list(panels[:count])


def _label(axes: Axes, title: str, names: Sequence[str]) -> None:
    """Set the title and tick labels of a panel; long labels are slanted."""
    slanted: dict[str, Any] = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"}
    axes.set_title(title, fontsize="medium")
    axes.tick_params(labelsize="small")
    axes.set_xticks(range(len(names)), names, **(slanted if max(map(len, names)) > SHORT else {}))
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.grid(alpha=0.3)


def _add_legend(figure: Figure, panels: Sequence[Axes]) -> None:
    handles = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        list(handles.values()), list(handles), loc="outside lower center", ncols=3, frameon=False
    )


def _draw(axes: Axes, comparisons: Sequence[Comparison | None], *, connected: bool) -> None:
    """Draw published values, and beside each the measured mean, every run and the selected run."""
    shift = 0.06 if connected else 0.14
    points = [(at, each) for at, each in enumerate(comparisons) if each]
    cells = [(at - shift, each.cell) for at, each in points]
    means = [(at + shift, each.summary) for at, each in points if each.summary]
    runs = [(at + 2 * shift, score) for at, each in points for score in each.scores]
    selected = [(at + 2 * shift, it.selected) for at, it in points if it.selected is not None]
    _draw_means(
        axes,
        {
            ("published", PUBLISHED, "s"): [
                (at, cell.value, cell.spread or 0) for at, cell in cells if cell.value is not None
            ],
            ("measured", MEASURED, "o"): [(at, it.mean, it.deviation) for at, it in means],
        },
        line="-" if connected else "none",
    )
    if runs:
        axes.scatter(*zip(*runs, strict=True), s=8, color="black", zorder=3, label="each seed")
    if selected:
        ring: dict[str, Any] = {"s": 40, "facecolors": "none", "edgecolors": "black", "zorder": 3}
        axes.scatter(*zip(*selected, strict=True), **ring, label="selected")


def _draw_means(
    axes: Axes,
    series: Mapping[tuple[str, str, str], Sequence[tuple[float, float, float]]],
    line: str,
) -> None:
    """Draw positions, means and deviations by label, color and marker."""
    for (label, color, marker), points in series.items():
        if points:
            at, mean, deviation = zip(*points, strict=True)
            look: dict[str, Any] = {"color": color, "marker": marker, "markerfacecolor": "white"}
            axes.errorbar(at, mean, deviation, label=label, linestyle=line, capsize=3, **look)
