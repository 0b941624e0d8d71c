"""What a memory does while a network reads and writes: for people, as a picture and as text."""

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

START, BETWEEN = "<s>", "|||"
"""What a joint sequence begins with, and what stands between its source and its target."""
STEP, ROW = 0.2, 0.16
"""Inches of a step across and of one down."""
MOST = 60
"""Steps that have so much room, and names; more share it."""


@dataclass(frozen=True, eq=False)
class Look:
    """One example: its tokens, and what the memory did at each."""

    memory: Memory
    tokens: Sequence[str]
    """Of each step: the start, the source, what stands between, and what was said."""
    inside: MemoryTrace
    title: str = ""
    """What stands above the picture."""

    @classmethod
    def of(
        cls,
        memory: Memory,
        source: Sequence[str],
        said: Sequence[str],
        inside: MemoryTrace,
        title: str = "",
    ) -> Look:
        """Return the look at a memory with what it was told."""
        return cls(memory, (START, *source, BETWEEN, *said), inside, title)

    @property
    def reads(self) -> NDArray[np.float32]:
        """How much of what each step put in is read at each end after a step.

        Shape [ends, steps, put in at step].
        """
        return np.moveaxis(self._by_step(self.inside.reads), 1, 0)

    @property
    def held(self) -> NDArray[np.float32]:
        """How much of what each step put in is there after a step: [steps, put in at step]."""
        return self._by_step(self.inside.contents)

    def _by_step(self, pushes: Any) -> NDArray[np.float32]:
        found = np.asarray(pushes)
        return found.reshape(*found.shape[:-1], len(self.tokens), -1).sum(axis=-1)

    @property
    def as_json(self) -> dict[str, Any]:
        """The same as JSON values, to four digits."""
        shares = np.asarray(self.inside.action_probs)
        return {
            "tokens": list(self.tokens),
            "strengths": {
                f"{side} {want}".strip(): _rounded(shares[:, end, place])
                for end, side in enumerate(self.memory.sides)
                for place, want in enumerate(self.memory.actions)
            },
            "contents": [_rounded(row) for row in self.held],
            "reads": {
                side or "read": [_rounded(row) for row in self.reads[end]]
                for end, side in enumerate(self.memory.sides)
            },
        }

    @property
    def lines(self) -> Iterator[str]:
        """The same as text: a line a step, with what is read most."""
        known = self.as_json
        strengths, reads, held = known["strengths"], self.reads, self.held.sum(axis=1)
        wide = max(map(len, ("token", *self.tokens)))
        names = [name.rjust(4) for name in strengths]
        most = [f"{side} reads most".strip() for side in self.memory.sides]
        yield "  ".join(["step", "token".ljust(wide), *names, "contents", ", ".join(most)])
        for step, token in enumerate(self.tokens):
            cells = [f"{step:>4}", token.ljust(wide)]
            cells += [f"{own[step]:{max(4, len(name))}.2f}" for name, own in strengths.items()]
            cells.append(f"{held[step]:8.1f}")
            for own in reads[:, step]:
                at = int(own.argmax())
                cells.append(f"{self.tokens[at]} ({at}) {own[at]:.2f}" if own[at] > 0 else "-")
            yield "  ".join(cells)

    @property
    def figure(self) -> Figure:
        """Strengths of what is done, how much is there, and what is read, all over time."""
        count, sides = len(self.tokens), self.memory.sides
        shown = min(count, MOST)
        small, large = 1.3, max(1.6, ROW * shown)
        heights = [small] * len(sides) + [small, large] + [large] * len(sides)
        figure = new_figure(2.5 + STEP * shown, sum(heights) + 1.2)
        panels: list[Axes] = list(
            figure.subplots(len(heights), 1, sharex=True, height_ratios=heights).ravel()
        )
        left, edges = iter(panels), np.arange(count + 1) - 0.5
        for end, side in enumerate(sides):
            axes = next(left)
            for place, want in enumerate(self.memory.actions):
                own = np.asarray(self.inside.action_probs)[:, end, place]
                axes.stairs(own, edges, baseline=None, label=want, color=f"C{place}")
            _dress(axes, f"strength {side}".strip(), (-0.05, 1.05))
            axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, fontsize="small")
        axes, total = next(left), self.held.sum(axis=1)
        axes.stairs(total, edges, fill=True, alpha=0.4)
        _dress(axes, "in memory", (0, max(1.0, 1.05 * float(total.max()))))
        self._map(next(left), self.held, "contents of the memory", len(sides))
        for own, side in zip(self.reads, sides, strict=True):
            self._map(next(left), own, f"read {side}".strip(), 1)
        for axes in panels:
            axes.axvline(self.tokens.index(BETWEEN), color="0.6", linewidth=0.8, zorder=0)
        # A dollar sign is a token like any other.
        panels[-1].set_xticks(*self._named, rotation=90, fontsize="x-small", parse_math=False)
        panels[-1].set_xlabel("input tokens", fontsize="small")
        if self.title:
            figure.suptitle(visible(self.title), fontsize="small", parse_math=False)
        return figure

    def _map(self, axes: Axes, weights: NDArray[np.float32], label: str, most: float) -> None:
        axes.imshow(weights.T, aspect="auto", origin="lower", cmap="Greys", vmin=0, vmax=most)
        axes.set_yticks(*self._named, fontsize="x-small", parse_math=False)
        axes.set_ylabel(f"{label},\npushed at", fontsize="small")

    @property
    def _named(self) -> tuple[list[int], list[str]]:
        """Where along an axis of steps there are names, and which."""
        every = range(0, len(self.tokens), -(-len(self.tokens) // MOST))
        return list(every), [visible(self.tokens[step]) for step in every]


def _dress(axes: Axes, label: str, limits: tuple[float, float]) -> None:
    axes.set_ylabel(label, fontsize="small")
    axes.set_ylim(*limits)
    axes.grid(alpha=0.3)
    axes.tick_params(labelsize="x-small")


def _rounded(values: NDArray[np.float32]) -> list[float]:
    return [round(float(each), 4) for each in values]
