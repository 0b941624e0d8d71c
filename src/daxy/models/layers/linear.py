"""Linear maps of many rows at once."""

from __future__ import annotations

from jaxtyping import Array, Float


def times(
    values: Float[Array, "*rows incoming"], weight: Float[Array, "incoming outgoing"]
) -> Float[Array, "*rows outgoing"]:
    """Return values @ weight as one product of two matrices.

    A product of a higher-dimensional array has a weight gradient that contracts several dimensions
    at once, for which XLA first copies both operands into another order; flat rows need no copy.
    """
    flat = values.reshape(-1, values.shape[-1]) @ weight
    return flat.reshape(*values.shape[:-1], weight.shape[-1])
