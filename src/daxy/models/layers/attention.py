"""Additive attention (Bahdanau et al. 2015), over projected keys.

It scores a key k for a query q by v . tanh(q + k), and tanh(q + k) = 1 - 2 / (1 + exp(2q) exp(2k)).
The exponentials of the keys are the same at every step; with them at hand an element costs a step
one product and one division, a third of what a tanh takes.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

LARGEST = 40.0
"""What queries and keys are cut off at, so that none of their exponentials is 0 or infinite: the
product of two such would be no number.

A tanh of half as much is 1 in the last bit.
"""


def exponentials(values: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Return exp(2 value), of keys for `attend`."""
    return jnp.exp(2 * jnp.clip(values, -LARGEST, LARGEST))


def attend(
    query: Float[Array, "batch width"],
    keys: Float[Array, "batch source width"],
    energy: Float[Array, " width"],
    is_token: Bool[Array, "batch source"] | None = None,
) -> Float[Array, "batch source"]:
    """Return the weights softmax(v . tanh(query + key)) over the tokens; padding gets exactly 0.

    Args:
        query: What asks, already multiplied by Wq (Bastings et al. 2018, section 5).
        keys: The `exponentials` of what it meets, already multiplied by Wm.
        energy: The weights v.
        is_token: Where there is a token; unless given, there is one everywhere.
    """
    return jax.nn.softmax(_scores(query, keys, energy), axis=-1, where=is_token)


@jax.custom_vjp
def _scores(
    query: Float[Array, "batch width"],
    keys: Float[Array, "batch source width"],
    energy: Float[Array, " width"],
) -> Float[Array, "batch source"]:
    """Return v . tanh(query + key), the keys as exponentials, less the sum of v.

    What is the same for all keys changes nothing in a softmax.
    """
    return _falls(exponentials(query), keys) @ (-2 * energy)


def _falls(query: Array, keys: Array) -> Float[Array, "batch source width"]:
    """Return (1 - tanh(query + key)) / 2, of exponentials."""
    return 1 / (1 + query[:, None] * keys)


def _forward(query: Array, keys: Array, energy: Array) -> tuple[Array, tuple[Array, ...]]:
    return _scores(query, keys, energy), (query, keys, energy)


def _backward(kept: tuple[Array, ...], cotangent: Array) -> tuple[Array, Array, Array]:
    """Return the gradients; the falls are made again, which takes less time than keeping them."""
    query, keys, energy = kept
    raised, twice = exponentials(query), 2 * energy
    falls = _falls(raised, keys)
    slopes = falls * (1 - falls)
    to_query = jnp.einsum("bs,bsw->bw", cotangent, slopes) * (2 * twice)
    to_keys = (cotangent[:, :, None] * falls) * (falls * (raised * twice)[:, None])
    return to_query, to_keys, -2 * jnp.einsum("bs,bsw->w", cotangent, falls)


_scores.defvjp(_forward, _backward)
