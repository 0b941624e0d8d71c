"""Embedding of codes; PAD, which also stands before the first token, is the zero vector."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from daxy.core.vocabulary import PAD


def embed(
    table: Float[Array, "symbols width"], codes: Int[Array, "*shape"]
) -> Float[Array, "*shape width"]:
    """Return each code's row, and zeros for PAD (Bastings et al.: a zero start-of-sequence)."""
    return jnp.where((codes != PAD)[..., None], table[codes], 0)
