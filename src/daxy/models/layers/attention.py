"""Additive attention (Bahdanau et al. 2015), over projected keys."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


def attend(
    query: Float[Array, "batch width"],
    keys: Float[Array, "batch source width"],
    energy: Float[Array, " width"],
    is_token: Bool[Array, "batch source"] | None = None,
) -> Float[Array, "batch source"]:
    """Return the weights softmax(v . tanh(query + key)) over the tokens; padding gets exactly 0.

    Unless `is_token` says where there is a token, there is one everywhere.

    `query` and `keys` are already multiplied by Wq and Wm (Bastings et al. 2018, section 5).
    """
    return jax.nn.softmax(_scores(query, keys, energy), axis=-1, where=is_token)


@jax.custom_vjp
def _scores(
    query: Float[Array, "batch width"],
    keys: Float[Array, "batch source width"],
    energy: Float[Array, " width"],
) -> Float[Array, "batch source"]:
    """Return v . tanh(query + key)."""
    return jnp.tanh(query[:, None] + keys) @ energy


def _forward(query: Array, keys: Array, energy: Array) -> tuple[Array, tuple[Array, ...]]:
    return _scores(query, keys, energy), (query, keys, energy)


def _backward(kept: tuple[Array, ...], cotangent: Array) -> tuple[Array, Array, Array]:
    """Return the gradients; the tanh is made again, which takes less time than keeping it."""
    query, keys, energy = kept
    heard = jnp.tanh(query[:, None] + keys)
    slope = 1 - heard**2
    to_query = jnp.einsum("bs,bsw->bw", cotangent, slope) * energy
    to_keys = cotangent[:, :, None] * (slope * energy)
    return to_query, to_keys, jnp.einsum("bs,bsw->w", cotangent, heard)


_scores.defvjp(_forward, _backward)
