"""A recurrence whose weight gradients are formed once, after the scan.

Reverse-mode differentiation of a plain `lax.scan` adds a whole weight-sized matrix to an
accumulator at every time step: for y_t = a_t W it computes dW = sum_t a_t' dy_t one outer product
after the other. Here the loop only keeps the rows a_t and dy_t, and one matrix product forms the
same sum afterwards, at the rate of a large product instead of that of many small additions.

A weight is one matrix that every row of the batch meets, or one matrix for each row: what attention
sums, for one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol, TypeAlias, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from daxy.models.layers.linear import summed_products

Weights: TypeAlias = Mapping[str, Float[Array, "_ _"] | Float[Array, "batch _ _"]]
Tree: TypeAlias = Any
"""Any nest of arrays that JAX maps over."""


@runtime_checkable
class Apply(Protocol):
    """What a body calls to meet the weights."""

    def __call__(
        self, weight: str, rows: Float[Array, "batch incoming"], /
    ) -> Float[Array, "batch outgoing"]:
        """Return rows @ weight, of the weight of that name; at most once each a step."""
        ...


Body: TypeAlias = Callable[[Apply, Tree, Tree, Tree], tuple[Tree, Tree]]
"""body(apply, constants, state, input) -> (next state, output), as in `lax.scan`."""


def scan(
    body: Body,
    weights: Weights,
    constants: Tree,
    state: Tree,
    inputs: Tree,
    *,
    reverse: bool = False,
) -> Tree:
    """Run `body` over the leading (time) axis of `inputs`; return its outputs, stacked.

    With `reverse` the last input comes first, and the outputs stay beside their inputs. Same values
    and gradients as `lax.scan`; only the weights' gradients are formed differently. `constants` are
    arrays that every step reads: their gradients are accumulated step by step.
    """
    return _recurrence(body, reverse)(dict(weights), constants, state, inputs)


def _recurrence(body: Body, reverse: bool) -> Callable[[Weights, Tree, Tree, Tree], Tree]:
    @jax.custom_vjp
    def run(weights: Weights, constants: Tree, state: Tree, inputs: Tree) -> Tree:
        sinks = _sinks(weights, state, inputs)
        return _unrolled(body, reverse, weights, constants, state, inputs, sinks)[0]

    def forward(weights: Weights, constants: Tree, state: Tree, inputs: Tree) -> tuple[Tree, Tree]:
        sinks = _sinks(weights, state, inputs)
        outputs, pull_back, rows = jax.vjp(
            partial(_unrolled, body, reverse, weights),
            constants,
            state,
            inputs,
            sinks,
            has_aux=True,
        )
        return outputs, (pull_back, rows, weights)

    def backward(kept: Tree, cotangent: Tree) -> tuple[Tree, Tree, Tree, Tree]:
        pull_back, rows, weights = kept
        constants, state, inputs, products = pull_back(cotangent)
        gradients = {
            name: gradient(weights[name].ndim, rows[name], products[name]) for name in weights
        }
        return gradients, constants, state, inputs

    run.defvjp(forward, backward)
    return run


def _unrolled(
    body: Body,
    reverse: bool,
    weights: Weights,
    constants: Tree,
    state: Tree,
    inputs: Tree,
    sinks: Tree,
) -> tuple[Tree, Tree]:
    """Return (the stacked outputs, the rows that met each weight at each step)."""
    several = jax.tree.leaves(state)[0].shape[0] > 1
    turned = {
        name: weight.T if weight.ndim == 2 and several else None for name, weight in weights.items()
    }

    def step(state: Tree, step_inputs: Tree) -> tuple[Tree, Tree]:
        here, sink = step_inputs
        rows: dict[str, Array] = {}

        def apply(name: str, incoming: Array) -> Array:
            assert name not in rows, f"{name} is applied twice in one step"
            rows[name] = incoming
            return _product(incoming, weights[name], turned[name], sink[name])

        state, output = body(apply, constants, state, here)
        return state, (output, rows)

    _, (outputs, rows) = jax.lax.scan(step, state, (inputs, sinks), reverse=reverse)
    return outputs, rows


@jax.custom_vjp
def _product(rows: Array, weight: Array, turned: Array | None, sink: Array) -> Array:
    """Return rows @ weight; the product's cotangent goes into `sink`, none into `weight`.

    `turned` is a matrix's transpose for the way back, made once outside the loop; None where a
    matrix meets one row only, and reading it as it is takes no longer.
    """
    del turned, sink
    return times(rows, weight)


def _product_forward(
    rows: Array, weight: Array, turned: Array | None, sink: Array
) -> tuple[Array, tuple[Array, Array | None]]:
    return _product(rows, weight, turned, sink), (weight, turned)


def _product_backward(
    kept: tuple[Array, Array | None], cotangent: Array
) -> tuple[Array, None, None, Array]:
    weight, turned = kept
    if turned is not None:
        rows = cotangent @ turned
    elif weight.ndim == 2:
        rows = jnp.einsum("bo,io->bi", cotangent, weight)
    else:
        rows = jnp.einsum("bo,bio->bi", cotangent, weight)
    return rows, None, None, cotangent


_product.defvjp(_product_forward, _product_backward)


def applied(weights: Weights) -> Apply:
    """Return what meets the weights in a single step, outside of `scan`."""

    def apply(weight: str, rows: Array, /) -> Array:
        return times(rows, weights[weight])

    return apply


def times(rows: Float[Array, "batch incoming"], weight: Array) -> Float[Array, "batch outgoing"]:
    """Return rows @ weight, of one weight for all rows or one for each."""
    return rows @ weight if weight.ndim == 2 else jnp.einsum("bi,bio->bo", rows, weight)


def gradient(
    axes: int,
    rows: Float[Array, "time batch incoming"],
    products: Float[Array, "time batch outgoing"],
) -> Array:
    """Return the gradient of a weight with two axes, or with one for the batch before them."""
    if axes == 2:
        return summed_products(rows, products)
    return jnp.einsum("tbi,tbo->bio", rows, products)


def _sinks(weights: Weights, state: Tree, inputs: Tree) -> dict[str, Array]:
    """Return zeros shaped as each weight's products over time; nothing ever reads them."""
    steps = jax.tree.leaves(inputs)[0].shape[0]
    batch = jax.tree.leaves(state)[0].shape[0]
    return {
        name: jnp.zeros((steps, batch, weight.shape[-1]), weight.dtype)
        for name, weight in weights.items()
    }
