"""Dropout whose rate is a number, so that replicas with different rates share one program."""

from __future__ import annotations

import math
import zlib

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, UInt16

LEVELS = 2**16
"""A unit is dropped when a 16-bit draw falls below rate x 65,536: exact to 1e-5, half the draws."""


class Dropout(eqx.Module):
    """The noise of one training step: a key that is folded with each place's name."""

    key: PRNGKeyArray
    rate: Float[Array, ""]

    def __call__(self, place: str, values: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
        """Zero each value with probability `rate` and scale the others by 1 / (1 - rate)."""
        key = jax.random.fold_in(self.key, zlib.crc32(place.encode()))
        kept = _draws(key, values.shape) >= jnp.round(self.rate * LEVELS).astype(jnp.uint16)
        return jnp.where(kept, values / (1 - self.rate), 0)


def _draws(key: PRNGKeyArray, shape: tuple[int, ...]) -> UInt16[Array, ...]:
    """Return 16-bit draws: each 32-bit draw, as the generator makes them, is read as two."""
    count = math.prod(shape)
    words = jax.random.bits(key, (-(-count // 2),), jnp.uint32)
    return jax.lax.bitcast_convert_type(words, jnp.uint16).reshape(-1)[:count].reshape(shape)


def drop(
    noise: Dropout | None, place: str, values: Float[Array, "*shape"]
) -> Float[Array, "*shape"]:
    """Apply the noise, if there is any: without it a model is deterministic."""
    return values if noise is None else noise(place, values)
