"""Linear maps of many rows at once."""

from __future__ import annotations

from jaxtyping import Array, Float


def matmul(
    values: Float[Array, "*rows incoming"], weight: Float[Array, "incoming outgoing"]
) -> Float[Array, "*rows outgoing"]:
    """Return values @ weight as one product of two matrices.

    The gradient of a weight that meets more than two axes contracts several at once, for which XLA
    first copies both factors; flat rows need no copy.
    """
    flat = values.reshape(-1, values.shape[-1]) @ weight
    return flat.reshape(*values.shape[:-1], weight.shape[-1])
