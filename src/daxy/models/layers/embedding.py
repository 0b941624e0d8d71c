"""Embedding of codes; PAD, which also stands before the first token, is the zero vector.

A symbol that begins every sequence, where an architecture has one, has the last row of a table.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from daxy.core.vocabulary import PAD
from daxy.models.layers.linear import matmul

FEW = 256
"""Symbols up to which a product with indicators is faster than looking rows up.

Compilers for CPUs look values up one by one, and add up a lookup's gradients one by one.
"""


def embed(
    table: Float[Array, "symbols width"], codes: Int[Array, "*shape"]
) -> Float[Array, "*shape width"]:
    """Return each code's row, and zeros for PAD (Bastings et al.: a zero start-of-sequence)."""
    if len(table) <= FEW:
        return matmul(indicators(codes, len(table)), table)
    return jnp.where((codes != PAD)[..., None], table[codes], 0)


def look_up(
    table: Float[Array, "symbols width"], codes: Int[Array, "*shape"]
) -> Float[Array, "*shape width"]:
    """Return each code's row, PAD's too."""
    if len(table) <= FEW:
        return matmul(jax.nn.one_hot(codes, len(table), dtype=table.dtype), table)
    return table[codes]


def with_start(
    codes: Int[Array, "batch length"], table: Float[Array, "symbols_and_start width"]
) -> Int[Array, "batch length_and_start"]:
    """Return sequences that begin with the symbol that has the last row."""
    return jnp.pad(codes, ((0, 0), (1, 0)), constant_values=len(table) - 1)


def embed_previous(
    table: Float[Array, "symbols_and_start width"], tokens: Int[Array, "*shape"]
) -> Float[Array, "*shape width"]:
    """Return the rows of the tokens before each token; PAD, before the first, has the last row."""
    return embed(table, jnp.where(tokens == PAD, len(table) - 1, tokens))


def indicators(codes: Int[Array, "*shape"], symbols: int) -> Float[Array, "*shape symbols"]:
    """Return 1 at each code's place and 0 elsewhere; for PAD 0 everywhere."""
    symbol = jnp.arange(symbols, dtype=jnp.int32)
    return ((codes[..., None] == symbol) & (symbol != PAD)).astype(jnp.float32)
