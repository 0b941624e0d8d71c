"""Configuration of `daxy.models.stacked`."""

from __future__ import annotations

from dataclasses import dataclass

from daxy.core.settings import check_positive
from daxy.models.configs._cells import CellName, check_cell


@dataclass(frozen=True, kw_only=True)
class Config:
    """A stacked encoder-decoder; every field is a flag of `daxy train`.

    The defaults are the architecture that did best over all of the paper's experiments.
    """

    cell: CellName = "lstm"
    """Recurrent unit of the encoder and of the decoder."""
    layers: int = 2
    """Recurrent layers of the encoder and of the decoder."""
    hidden: int = 200
    """Hidden size of each layer, and width of the embeddings."""
    attention: bool = False
    """Attention of the decoder over the encoder's top states."""

    def __post_init__(self) -> None:
        check_cell(self.cell)
        check_positive(self, "layers", "hidden")
