"""What a network attends to while it says something: for people, as a picture and as text."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import visible
from daxy.report._figure import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

START, END = "<s>", "</s>"
CELL = 0.34
"""Inches of a word's row and column."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """One example: the words of both sides, and how much each step attends to each word."""

    source: Sequence[str]
    said: Sequence[str]
    """One a step, the end too if it came."""
    weights: NDArray[np.float32]
    """Shape [steps, words of the source]."""

    @classmethod
    def of(
        cls, source: Sequence[str], said: Sequence[str], weights: NDArray[np.float32]
    ) -> Alignment:
        """Return the alignment of a source and what a network says to it.

        Args:
            source: Its words.
            said: The network's.
            weights: [steps, places]: places are the words and the end, maybe with a start before;
                steps are the words and, if it came, the end.
        """
        start = [START] * (weights.shape[1] - len(source) - 1)
        return cls((*start, *source, END), (*said, END)[: len(weights)], weights)

    def _repr_svg_(self) -> str:
        """Return the picture for a notebook."""
        drawn = io.StringIO()
        draw([self]).savefig(drawn, format="svg")
        return drawn.getvalue()

    @property
    def as_json(self) -> dict[str, Any]:
        """The same as JSON values, to four digits."""
        return {
            "source_tokens": list(self.source),
            "output_tokens": list(self.said),
            "attention": [[round(float(each), 4) for each in row] for row in self.weights],
        }

    @property
    def lines(self) -> Iterator[str]:
        """The same as text: a line a step, with the words that are attended to most."""
        wide = max(map(len, self.said))
        for token, row in zip(self.said, self.weights, strict=True):
            most = np.argsort(-row, kind="stable")[:3]
            looks = [
                f"{self.source[place]} {row[place]:.2f}" for place in most if row[place] > 0.05
            ]
            yield f"{token.ljust(wide)}  {', '.join(looks)}"


def draw(alignments: Sequence[Alignment]) -> Figure:
    """Return a picture of several, side by side: rows are what is said, columns what is read."""
    columns = min(4, len(alignments))
    rows = -(-len(alignments) // columns)
    wide = CELL * max(len(each.source) for each in alignments) + 1.2
    high = CELL * max(len(each.said) for each in alignments) + 1.2
    figure = new_figure(wide * columns, high * rows)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, each in zip(panels, alignments, strict=False):
        _draw(axes, each)
    for axes in panels[len(alignments) :]:
        axes.set_axis_off()
    return figure


def _draw(axes: Axes, alignment: Alignment) -> None:
    axes.imshow(alignment.weights, cmap="Greys", vmin=0, vmax=1)
    across, down = range(len(alignment.source)), range(len(alignment.said))
    # A dollar sign is a token like any other.
    source, said = (list(map(visible, side)) for side in (alignment.source, alignment.said))
    axes.set_xticks(across, source, rotation=90, fontsize="small", parse_math=False)
    axes.set_yticks(down, said, fontsize="small", parse_math=False)
    axes.xaxis.tick_top()
