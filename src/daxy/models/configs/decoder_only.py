"""Configuration of `daxy.models.decoder_only`."""

from __future__ import annotations

from dataclasses import dataclass

from daxy.models.configs._transformer import TransformerConfig


@dataclass(frozen=True, kw_only=True)
class Config(TransformerConfig):
    """A causal language model over source and target; every field is a flag of `daxy train`."""

    layers: int = 6
    """Layers."""
