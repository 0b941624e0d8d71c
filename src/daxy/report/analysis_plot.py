"""Figures of analyses: a panel for each group, with a bar for each row or a curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from daxy.report._figure import new_figure
from daxy.report.analysis import AnalysisResult, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL, BAR = 5.0, 0.25
"""Minimum width of a panel, and width of a bar, in inches."""
HEIGHT = 4.0
"""Height of a panel without long tick labels, in inches."""
MAX_CURVES = 4
"""Panels with curves in a row."""
LEGEND = 7.0
"""Minimum width of a figure with a legend, in inches."""
LETTER = 0.08
"""Height of a letter of an upright tick label, in inches."""
CROWDED = 50
"""Letters of tick labels from which on they are upright."""
MANY, SOME = 40, 10
"""Numbers below a panel from which on only some are shown, and about how many then."""
MARKERS = ("o", "^", "s", "v")
"""Markers of other metrics."""


@dataclass(frozen=True, eq=False)
class _Panel:
    """A group of rows and the labels below them."""

    group: str
    names: Sequence[str]
    """Tick labels: names of rows, then names that are only published."""
    rows: Sequence[Row]
    is_curve: bool

    @property
    def is_thinned(self) -> bool:
        """Whether the labels are many numbers, of which some are shown."""
        many = len(self.names) > MANY and all(map(str.isdecimal, self.names))
        return many and not self.is_curve

    @property
    def is_crowded(self) -> bool:
        """Whether the labels are too long to be horizontal."""
        letters = sum(len(name) + 2 for name in self.names)
        return letters > CROWDED and not (self.is_curve or self.is_thinned)

    @property
    def width(self) -> float:
        """Width in inches."""
        is_fixed = self.is_curve or self.is_thinned
        return PANEL if is_fixed else max(PANEL, BAR * len(self.names))


def draw(result: AnalysisResult) -> Figure:
    """Return a figure: a panel for each group, with a bar for each row or a curve."""
    panels = [
        _Panel(group, list(rows), [row for row in rows.values() if row], result.is_curve)
        for group, rows in result.groups.items()
    ]
    metrics = dict.fromkeys(name for row in result.rows for name in row.others)
    markers = dict(zip(metrics, MARKERS, strict=False))
    legend = _legend(result, markers)
    crowded = (name for panel in panels if panel.is_crowded for name in panel.names)
    figure, all_axes = _subplots(
        [panel.width for panel in panels],
        across=MAX_CURVES if result.is_curve else len(panels),
        height=HEIGHT + LETTER * max(map(len, crowded), default=0),
        least=LEGEND if legend else 0,
    )
    for axes, panel in zip(all_axes, panels, strict=True):
        _draw_panel(axes, panel, result, markers)
    if legend:
        figure.legend(handles=legend, loc="outside lower center", ncols=4)
    figure.suptitle(result.title)
    return figure


def _draw_panel(
    axes: Axes, panel: _Panel, result: AnalysisResult, markers: Mapping[str, str]
) -> None:
    (_draw_curve if panel.is_curve else _draw_bars)(axes, panel.rows)
    for metric, marker in markers.items():
        means = {row.name: row.others[metric].mean for row in panel.rows if row.others}
        _mark(axes, means, marker, color="tab:green", markersize=4)
    chances = {row.name: row.chance for row in panel.rows if row.chance is not None}
    _mark(axes, chances, "_", color="black", markersize=14)
    values = {name: result.published.get((panel.group, name)) for name in panel.names}
    printed = {name: value for name, value in values.items() if value is not None}
    _mark(axes, printed, "D", color="tab:orange")
    axes.set(xlabel=panel.group, ylabel=result.measure, ylim=(0, result.y_max))
    axes.tick_params(axis="x", rotation=90 if panel.is_crowded else 0)
    if panel.is_thinned:
        places = range(0, len(panel.names), -(-len(panel.names) // SOME))
        axes.set_xticks(places, [panel.names[place] for place in places])


def _mark(axes: Axes, values: Mapping[str, float], marker: str, **look: Any) -> None:
    if values:
        axes.plot([*values], [*values.values()], marker, **look)


def _subplots(
    widths: Sequence[float], *, across: int, height: float, least: float
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each width; sizes are in inches.

    Args:
        widths: Width of each panel; equal if there are several rows.
        across: Maximum number of panels in a row.
        height: Height of a row.
        least: Minimum width of the figure.
    """
    columns = min(across, len(widths))
    rows, first = -(-len(widths) // columns), widths[:columns]
    figure = new_figure(max(least, sum(first)), rows * height)
    panels = figure.subplots(rows, columns, squeeze=False, width_ratios=first).ravel()
    for axes in panels[len(widths) :]:
        axes.set_axis_off()
    return figure, list(panels[: len(widths)])


def _draw_bars(axes: Axes, rows: Sequence[Row]) -> None:
    """Draw a bar for each row, with its standard error."""
    means, errors = [row.value.mean for row in rows], [row.value.sem or 0 for row in rows]
    axes.bar([row.name for row in rows], means, yerr=errors, color="tab:blue", alpha=0.8)


def _draw_curve(axes: Axes, rows: Sequence[Row]) -> None:
    """Draw a thin line for each run, and a thick one for their mean."""
    across = [float(row.name) for row in rows]
    for runs in zip(*(row.value.runs for row in rows), strict=True):
        axes.plot(across, runs, color="tab:blue", alpha=0.3, linewidth=1)
    axes.plot(across, [row.value.mean for row in rows], color="tab:blue", marker=".")
    axes.locator_params(axis="x", nbins=5)


def _legend(result: AnalysisResult, markers: Mapping[str, str]) -> list[Any]:
    """Return the handles of a legend; none if only measured values are drawn."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    mark = partial(Line2D, [], [], linestyle="")
    handles = [
        mark(marker=marker, color="tab:green", markersize=4, label=name)
        for name, marker in markers.items()
    ]
    if any(row.chance is not None for row in result.rows):
        handles.append(mark(marker="_", color="black", markersize=14, label="chance"))
    if result.published:
        handles.append(mark(marker="D", color="tab:orange", label="published"))
    has_errors = any(row.value.sem is not None for row in result.rows)
    label = "measured" + ", with its SEM" * has_errors
    return [Patch(color="tab:blue", alpha=0.8, label=label), *handles] if handles else []
