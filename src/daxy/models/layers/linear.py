"""Linear maps of many rows at once."""

from __future__ import annotations

import jax
from jaxtyping import Array, Float


def times(
    values: Float[Array, "*rows incoming"], weight: Float[Array, "incoming outgoing"]
) -> Float[Array, "*rows outgoing"]:
    """Return values @ weight as one product of two matrices.

    A product of a higher-dimensional array has a weight gradient that contracts several dimensions
    at once, for which XLA first copies both operands into another order; flat rows need no copy.
    """
    flat = _product(values.reshape(-1, values.shape[-1]), weight)
    return flat.reshape(*values.shape[:-1], weight.shape[-1])


@jax.custom_vjp
def _product(rows: Array, weight: Array) -> Array:
    """Return rows @ weight.

    JAX would form the weight's gradient as its transpose, which XLA for CPUs does three times more
    slowly than the product that is written here.
    """
    return rows @ weight


def _forward(rows: Array, weight: Array) -> tuple[Array, tuple[Array, Array]]:
    return rows @ weight, (rows, weight)


def _backward(kept: tuple[Array, Array], cotangent: Array) -> tuple[Array, Array]:
    rows, weight = kept
    narrow = rows.shape[1] <= cotangent.shape[1]  # the operand that is turned is copied
    gradient = rows.T @ cotangent if narrow else (cotangent.T @ rows).T
    return cotangent @ weight.T, gradient


_product.defvjp(_forward, _backward)
