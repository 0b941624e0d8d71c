"""Configuration of `daxy.models.transformer`."""

from __future__ import annotations

from dataclasses import dataclass

from daxy.models.configs._transformer import TransformerConfig


@dataclass(frozen=True, kw_only=True)
class Config(TransformerConfig):
    """A Transformer encoder-decoder; every field is a flag of `daxy train`.

    The defaults are the relative Transformer of Csordás et al. (2021) on SCAN.
    """
