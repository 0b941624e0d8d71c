"""Initial weights with PyTorch's default distributions.

The networks of Bastings et al. (2018) started from them. Where a paper does not say what its
networks started from, as Grefenstette et al. (2015) does not, they are a choice.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


def uniform(key: PRNGKeyArray, shape: tuple[int, ...], fan: int | float) -> Float[Array, ...]:
    """Return draws from U(-1/sqrt(fan), 1/sqrt(fan)).

    `fan` is the incoming width for a linear map and the hidden width for a recurrent layer, weights
    and biases alike, as in `torch.nn.Linear` and `torch.nn.RNNBase`. With a sixth of the sum of
    incoming and outgoing width it is the distribution of Glorot & Bengio (2010).
    """
    bound = fan**-0.5
    return jax.random.uniform(key, shape, jnp.float32, minval=-bound, maxval=bound)


def normal(key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, ...]:
    """Return draws from N(0, 1), as `torch.nn.Embedding` starts from."""
    return jax.random.normal(key, shape, jnp.float32)
