"""Draw the diagrams of the benchmarks' pages: what NACS and the translation tasks ask.

python docs/pictures/diagrams.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from daxy.languages import scan
from daxy.tasks import data

HERE = Path(__file__).parent
INK, LINE, TESTED = "#1f2328", "#8c959f", "#3949ab"


def diagram(name: str, heads: tuple[str, str], left: Sequence[str], right: Sequence[str]) -> None:
    """Draw every item of the left joined with every item of the right, under two headings."""
    rows = max(len(left), len(right))
    figure = Figure(figsize=(7.2, 0.9 + 0.36 * rows), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 10), ylim=(-rows, 1.4))
    axes.axis("off")
    sides = ((left, 3.6, "right"), (right, 6.4, "left"))
    for (items, x, side), head in zip(sides, heads, strict=True):
        axes.text(x, 0.9, head, ha=side, va="center", color=LINE, size=11)
        for place, item in zip(_places(len(items), rows), items, strict=True):
            color = INK if items is left else TESTED
            axes.text(
                x, place, item, ha=side, va="center", color=color, size=12, family="monospace"
            )
    for start in _places(len(left), rows):
        for end in _places(len(right), rows):
            axes.annotate(
                "", (6.3, end), (3.7, start), arrowprops={"arrowstyle": "->", "color": LINE}
            )
    with mpl.rc_context({"svg.hashsalt": "daxy", "svg.fonttype": "path"}):
        figure.savefig(HERE / f"{name}.svg", metadata={"Date": None})


def _places(count: int, rows: int) -> list[float]:
    first = -(rows - count) / 2
    return [first - place for place in range(count)]


def main() -> None:
    """Draw both."""
    actions = ("I_JUMP", "I_JUMP")
    commands = [" ".join(words) for words, said in scan.meanings().items() if said == actions]
    diagram("nacs", ("input", "right outputs"), [" ".join(actions)], commands)
    task = "translation/daxy"
    tests = data(task).load(task).named["new_word"].source
    diagram("translation", ("in training", "in the test"), ["i am daxy ."], [*map(" ".join, tests)])


if __name__ == "__main__":
    main()
