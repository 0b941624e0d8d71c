"""Attention of a network at each output token, as a figure and as text."""

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
TOKEN = 0.34
"""Width and height of a token's column and row, in inches."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """Attention of each output token to each source token of one example."""

    source: Sequence[str]
    output: Sequence[str]
    """One token a step, with the end if the network produced it."""
    weights: NDArray[np.float32]
    """Shape [steps, source tokens]."""

    @classmethod
    def of(
        cls, source: Sequence[str], output: Sequence[str], weights: NDArray[np.float32]
    ) -> Alignment:
        """Return the alignment of a source and a network's output.

        Args:
            source: Source tokens.
            output: Output tokens.
            weights: [steps, positions]: positions are the source tokens and the end, maybe with a
                start before; steps are the output tokens and, if the network produced it, the end.
        """
        start = [START] * (weights.shape[1] - len(source) - 1)
        return cls((*start, *source, END), (*output, END)[: len(weights)], weights)

    def _repr_svg_(self) -> str:
        """Return the figure for a notebook."""
        file = io.StringIO()
        draw([self]).savefig(file, format="svg")
        return file.getvalue()

    @property
    def as_json(self) -> dict[str, Any]:
        """The same as JSON values, to four digits."""
        return {
            "source_tokens": list(self.source),
            "output_tokens": list(self.output),
            "attention": [[round(float(weight), 4) for weight in row] for row in self.weights],
        }

    @property
    def lines(self) -> Iterator[str]:
        """The same as text: a line a step, with the most attended tokens."""
        width = max(map(len, self.output))
        for token, weights in zip(self.output, self.weights, strict=True):
            top = [at for at in np.argsort(-weights, kind="stable")[:3] if weights[at] > 0.05]
            attended = ", ".join(f"{self.source[at]} {weights[at]:.2f}" for at in top)
            yield f"{token.ljust(width)}  {attended}"


def draw(alignments: Sequence[Alignment]) -> Figure:
    """Return a figure of several, side by side: rows are output tokens, columns source tokens."""
    columns = min(4, len(alignments))
    rows = -(-len(alignments) // columns)
    width = TOKEN * max(len(each.source) for each in alignments) + 1.2
    height = TOKEN * max(len(each.output) for each in alignments) + 1.2
    figure = new_figure(width * columns, height * rows)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, alignment in zip(panels, alignments, strict=False):
        _draw(axes, alignment)
    for axes in panels[len(alignments) :]:
        axes.set_axis_off()
    return figure


def _draw(axes: Axes, alignment: Alignment) -> None:
    axes.imshow(alignment.weights, cmap="Greys", vmin=0, vmax=1)
    source, output = (list(map(visible, it)) for it in (alignment.source, alignment.output))
    # A dollar sign would begin a formula.
    axes.set_xticks(range(len(source)), source, rotation=90, fontsize="small", parse_math=False)
    axes.set_yticks(range(len(output)), output, fontsize="small", parse_math=False)
    axes.xaxis.tick_top()
