"""Settings that all Transformers have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from daxy.core.errors import require
from daxy.core.settings import check_positive

Positions = Literal["absolute", "relative", "rotary", "none"]
Scaling = Literal["none", "up", "down"]


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Settings of a Transformer; every field is a flag of `daxy train`."""

    hidden: int = 128
    """Width of embeddings and of hidden vectors."""
    feedforward: int = 256
    """Width inside the feed-forward layers."""
    heads: int = 8
    """Attention heads; they divide `hidden`."""
    layers: int = 3
    """Layers; an encoder-decoder has as many in each."""
    positions: Positions = "relative"
    """Positions: sinusoids added to the embeddings (`absolute`), relative ones in self-attention as
    in Transformer-XL (`relative`), rotations of queries and keys (`rotary`), or `none`."""
    embedding_scaling: Scaling = "none"
    """Scale of embeddings beside positions: `up` multiplies embeddings by the square root of
    `hidden`, `down` divides absolute positions by it."""
    shared_layers: bool = False
    """Use one layer for all, as a universal Transformer does."""
    norm: Literal["post", "pre"] = "post"
    """Normalize after the residual sum (`post`) or before each sublayer (`pre`)."""
    tied_output: bool = True
    """Use the target embedding as the output matrix."""

    def __post_init__(self) -> None:
        check_positive(self, "hidden", "feedforward", "heads", "layers")
        width = f"{self.heads} heads do not divide a hidden size of {self.hidden}"
        require(self.hidden % self.heads == 0, f"{width}; expected a divisor")
        pairs = f"positions are pairs of values; expected an even hidden size, not {self.hidden}"
        require(self.hidden % 2 == 0, pairs)
        even = f"rotary positions need an even width of a head, not {self.hidden // self.heads}"
        require(self.positions != "rotary" or self.hidden // self.heads % 2 == 0, even)
        scaled = "embedding-scaling down divides absolute positions; expected --positions absolute"
        require(self.embedding_scaling != "down" or self.positions == "absolute", scaled)
