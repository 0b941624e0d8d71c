"""Configuration of `daxy.models.multimodal`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from daxy.core.errors import quote, require
from daxy.core.settings import check_positive

WIDEST = 509
"""Cells along the side of a window that reaches from one edge of the largest grid to the other."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """A multimodal encoder-decoder; every field is a flag of `daxy train`."""

    variant: Literal["code", "paper"] = "code"
    """The network of the authors' code, or of the paper's equations."""
    hidden: int = 100
    """Hidden size of the decoder, and of the command encoder in each direction."""
    embedding: int = 25
    """Width of a word's embedding, and of an action's in the `paper` variant; an action's in the
    `code` variant has `hidden`."""
    channels: int = 50
    """Features of a cell per kernel."""
    kernel_sizes: str = "1,5,7"
    """Kernel sizes of the convolutions, in cells (1,5,13 for the paper's 12 x 12 grids)."""
    world_dropout: float = 0.1
    """Dropout on the features of cells; off if `dropout` is 0."""

    def __post_init__(self) -> None:
        check_positive(self, "hidden", "embedding", "channels")
        sides = self.kernel_sizes.split(",")
        odd = all(side.isascii() and side.isdigit() and int(side) % 2 for side in sides)
        require(
            odd,
            f"kernel-sizes must be odd numbers with commas between, not {quote(self.kernel_sizes)}",
        )
        wide = f"a kernel's side must be at most {WIDEST}, which reaches over the largest grid"
        require(max(map(int, sides)) <= WIDEST, f"{wide}; not {quote(self.kernel_sizes)}")
        rate = self.world_dropout
        require(0 <= rate < 1, f"world-dropout must be in [0, 1), not {rate}")

    @property
    def sides(self) -> tuple[int, ...]:
        """The sides of the windows."""
        return tuple(map(int, self.kernel_sizes.split(",")))
