"""Operations and contents of a memory at each step, as a figure and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import visible
from daxy.models.decoding.memory_trace import MemoryTrace
from daxy.models.memories import Memory
from daxy.report._figure import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

START, SEPARATOR = "<s>", "|||"
"""First token of a joint sequence, and the token between its source and its target."""
STEP, ROW = 0.2, 0.16
"""Width and height of a step, in inches."""
MAX_STEPS = 60
"""Steps with a full width and a tick label each; more share these."""


@dataclass(frozen=True, eq=False)
class MemoryPlot:
    """One example: its tokens, and the state of the memory at each."""

    memory: Memory
    tokens: Sequence[str]
    """Token of each step: the start, the source, the separator and the output."""
    inside: MemoryTrace
    title: str = ""
    """Title of the figure."""

    @classmethod
    def of(
        cls,
        memory: Memory,
        source: Sequence[str],
        output: Sequence[str],
        inside: MemoryTrace,
        title: str = "",
    ) -> MemoryPlot:
        """Return the trace of a memory for a source and a network's output."""
        return cls(memory, (START, *source, SEPARATOR, *output), inside, title)

    @property
    def reads(self) -> NDArray[np.float32]:
        """Read weight at each end and step of what each step pushed: [ends, steps, steps]."""
        return np.moveaxis(self._by_step(self.inside.reads), 1, 0)

    @property
    def held(self) -> NDArray[np.float32]:
        """Strength after each step of what each step pushed: [steps, steps]."""
        return self._by_step(self.inside.contents)

    def _by_step(self, pushes: Any) -> NDArray[np.float32]:
        weights = np.asarray(pushes)
        return weights.reshape(*weights.shape[:-1], len(self.tokens), -1).sum(axis=-1)

    @property
    def as_json(self) -> dict[str, Any]:
        """The same as JSON values, to four digits."""
        shares = np.asarray(self.inside.action_probs)
        return {
            "tokens": list(self.tokens),
            "strengths": {
                f"{side} {want}".strip(): _rounded(shares[:, end, number])
                for end, side in enumerate(self.memory.sides)
                for number, want in enumerate(self.memory.actions)
            },
            "contents": [_rounded(row) for row in self.held],
            "reads": {
                side or "read": [_rounded(row) for row in self.reads[end]]
                for end, side in enumerate(self.memory.sides)
            },
        }

    @property
    def lines(self) -> Iterator[str]:
        """The same as text: a line a step, with the token that is read most."""
        strengths, reads = self.as_json["strengths"], self.reads
        width = max(map(len, ("token", *self.tokens)))
        names = [name.rjust(4) for name in strengths]
        most = [f"{side} reads most".strip() for side in self.memory.sides]
        yield "  ".join(["step", "token".ljust(width), *names, "contents", ", ".join(most)])
        for step, (token, total) in enumerate(zip(self.tokens, self.held.sum(axis=1), strict=True)):
            values = [f"{own[step]:{max(4, len(name))}.2f}" for name, own in strengths.items()]
            top = [self._most_read(weights) for weights in reads[:, step]]
            yield "  ".join([f"{step:>4}", token.ljust(width), *values, f"{total:8.1f}", *top])

    def _most_read(self, weights: NDArray[np.float32]) -> str:
        at = int(weights.argmax())
        return f"{self.tokens[at]} ({at}) {weights[at]:.2f}" if weights[at] > 0 else "-"

    @property
    def figure(self) -> Figure:
        """Strengths of the operations, total contents, contents and reads over steps."""
        sides, shown = self.memory.sides, min(len(self.tokens), MAX_STEPS)
        low, high = 1.3, max(1.6, ROW * shown)
        heights = [low] * len(sides) + [low, high] + [high] * len(sides)
        figure = new_figure(2.5 + STEP * shown, sum(heights) + 1.2)
        panels: list[Axes] = list(
            figure.subplots(len(heights), 1, sharex=True, height_ratios=heights).ravel()
        )
        remaining = iter(panels)
        for end, side in enumerate(sides):
            self._draw_strengths(next(remaining), end, side)
        self._draw_total(next(remaining))
        self._draw_map(next(remaining), self.held, "contents of the memory", len(sides))
        for weights, side in zip(self.reads, sides, strict=True):
            self._draw_map(next(remaining), weights, f"read {side}".strip(), 1)
        for axes in panels:
            axes.axvline(self.tokens.index(SEPARATOR), color="0.6", linewidth=0.8, zorder=0)
        # A dollar sign would begin a formula.
        panels[-1].set_xticks(*self._ticks, rotation=90, fontsize="x-small", parse_math=False)
        panels[-1].set_xlabel("input tokens", fontsize="small")
        if self.title:
            figure.suptitle(visible(self.title), fontsize="small", parse_math=False)
        return figure

    def _draw_strengths(self, axes: Axes, end: int, side: str) -> None:
        for number, want in enumerate(self.memory.actions):
            strengths = np.asarray(self.inside.action_probs)[:, end, number]
            axes.stairs(strengths, self._edges, baseline=None, label=want, color=f"C{number}")
        _style(axes, f"strength {side}".strip(), (-0.05, 1.05))
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, fontsize="small")

    def _draw_total(self, axes: Axes) -> None:
        total = self.held.sum(axis=1)
        axes.stairs(total, self._edges, fill=True, alpha=0.4)
        _style(axes, "in memory", (0, max(1.0, 1.05 * float(total.max()))))

    def _draw_map(self, axes: Axes, weights: NDArray[np.float32], label: str, most: float) -> None:
        axes.imshow(weights.T, aspect="auto", origin="lower", cmap="Greys", vmin=0, vmax=most)
        axes.set_yticks(*self._ticks, fontsize="x-small", parse_math=False)
        axes.set_ylabel(f"{label},\npushed at", fontsize="small")

    @property
    def _edges(self) -> list[float]:
        return [step - 0.5 for step in range(len(self.tokens) + 1)]

    @property
    def _ticks(self) -> tuple[list[int], list[str]]:
        """Positions and labels of ticks on an axis of steps."""
        steps = range(0, len(self.tokens), -(-len(self.tokens) // MAX_STEPS))
        return list(steps), [visible(self.tokens[step]) for step in steps]


def _style(axes: Axes, label: str, limits: tuple[float, float]) -> None:
    axes.set_ylabel(label, fontsize="small")
    axes.set_ylim(*limits)
    axes.grid(alpha=0.3)
    axes.tick_params(labelsize="x-small")


def _rounded(values: NDArray[np.float32]) -> list[float]:
    return [round(float(each), 4) for each in values]
