"""Configuration of `daxy.models.seq2seq`."""

from __future__ import annotations

from dataclasses import dataclass

from daxy.core.errors import require
from daxy.core.settings import added_field, check_positive
from daxy.models.configs._cells import CellName, check_cell


@dataclass(frozen=True, kw_only=True)
class Config:
    """A recurrent encoder-decoder; every field is a flag of `daxy train`."""

    cell: CellName = "gru"
    """Recurrent unit of the encoder and of the decoder."""
    hidden: int = 256
    """Hidden size of the decoder, and of the encoder in each direction."""
    embedding: int = 64
    """Width of the embeddings of source and target tokens."""
    attention: bool = True
    """Attention of the decoder over the encoder's outputs (+Attn)."""
    dependency: bool = True
    """Output dependency: the decoder reads the previous target token (without: -Dep)."""
    pre_output_dropout: bool = added_field(default=True)
    """Apply dropout to the input of the pre-output layer too, as in the authors' code."""

    def __post_init__(self) -> None:
        check_cell(self.cell)
        check_positive(self, "hidden", "embedding")
        require(
            self.attention or self.dependency,
            "without attention and without output dependency a decoder has no input at all",
        )
