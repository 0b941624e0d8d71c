"""Configuration of `daxy.models.luong`."""

from __future__ import annotations

from dataclasses import dataclass

from daxy.core.settings import check_positive


@dataclass(frozen=True, kw_only=True)
class Config:
    """An encoder-decoder with input feeding; every field is a flag of `daxy train`."""

    hidden: int = 512
    """Hidden size of the decoder, and of the encoder in each direction."""
    embedding: int = 64
    """Width of an embedding."""
    copy: bool = True
    """Let the decoder copy the source's end token."""

    def __post_init__(self) -> None:
        check_positive(self, "hidden", "embedding")
