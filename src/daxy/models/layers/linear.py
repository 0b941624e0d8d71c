"""Linear maps of many rows at once."""

from __future__ import annotations

import jax
import jax.numpy as jnp
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
    slowly than the sum that is written here.
    """
    return rows @ weight


def _forward(rows: Array, weight: Array) -> tuple[Array, tuple[Array, Array]]:
    return rows @ weight, (rows, weight)


def _backward(kept: tuple[Array, Array], cotangent: Array) -> tuple[Array, Array]:
    rows, weight = kept
    return jnp.einsum("no,io->ni", cotangent, weight), summed_products(rows, cotangent)


_product.defvjp(_forward, _backward)


STRIDE = 2**11
"""Bytes from row to row at which, and at whose multiples, rows share few places of a cache."""


def summed_products(
    rows: Float[Array, "*rows incoming"], others: Float[Array, "*rows outgoing"]
) -> Float[Array, "incoming outgoing"]:
    """Return the sum over rows of the products of each entry of one with each of the other.

    As it is written, both are read across their rows. Where these push each other out of the cache,
    the first is rather turned, which is a copy, and the product then reads along its rows.
    """
    rows, others = (each.reshape(-1, each.shape[-1]) for each in (rows, others))
    if jax.default_backend() == "cpu" and others.shape[1] * others.dtype.itemsize % STRIDE == 0:
        return jax.lax.optimization_barrier(rows.T) @ others
    return jnp.einsum("ni,no->io", rows, others)
