"""A figure of a grid: the score over one setting, a line for each combination of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from daxy.core.summary import Summary
from daxy.report._figure import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(
    title: str,
    values: Mapping[str, Sequence[Any]],
    scores: Mapping[tuple[Any, ...], Summary],
    label: str,
    *,
    is_share: bool,
) -> Figure:
    """Return a figure of a grid.

    Args:
        title: Title of the figure.
        values: Values of each setting; the one with most values is the horizontal axis.
        scores: Score of each combination that has finished runs.
        label: Label of the vertical axis.
        is_share: Whether scores are shares of 1, which are shown in per cent.
    """
    figure = new_figure(7, 4)
    axes = figure.subplots()
    names = list(values)
    unit = 100 if is_share else 1
    across = max(range(len(names)), key=lambda index: len(values[names[index]]))
    ticks = [str(value) for value in values[names[across]]]
    others = dict.fromkeys(_without(point, across) for point in scores)
    for other in others:
        points = [point for point in scores if _without(point, across) == other]
        places = [ticks.index(str(point[across])) for point in points]
        means = [unit * scores[point].mean for point in points]
        spreads = [unit * scores[point].deviation for point in points]
        rest = [name for name in names if name != names[across]]
        name = ", ".join(f"{key} {value}" for key, value in zip(rest, other, strict=True))
        axes.errorbar(places, means, yerr=spreads, marker="o", capsize=3, label=name or None)
    axes.set_xticks(range(len(ticks)), ticks)
    axes.set(
        xlabel=names[across].replace("_", " "),
        ylabel=f"{label} (%)" if is_share else label,
        title=title,
    )
    if is_share:
        axes.set_ylim(0, 102)
    if len(names) > 1:
        figure.legend(loc="outside right center")
    return figure


def _without(point: tuple[Any, ...], index: int) -> tuple[Any, ...]:
    return (*point[:index], *point[index + 1 :])
