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


@jax.checkpoint
def _scores(query: Array, keys: Array, energy: Array) -> Array:
    """Return v . tanh(query + key); the way back makes the tanh again instead of keeping it."""
    return jnp.tanh(query[:, None] + keys) @ energy
