"""A recurrence that saves its products and recomputes the rest of each step on the way back.

Problem: JAX saves every intermediate of every step. With a memory of n slots of width m that is at
    least n m numbers per step, so that a sequence of T steps needs T^2 m numbers.
Method: a step is x_{t+1}, y_t = f(x_t, u_t, p_t), where p_t are its products with weights, most of
    its cost.
    Saved per step: p_t, the input u_t, and `residuals(x_t)`, the part of x_t that is small.
    Saved per segment of T / S steps: `checkpoint(x)` of the state before its first step.
    The way back takes the segments from the last to the first. In each
    1. `precompute` makes, from the checkpoint and the saved p_t, whatever all steps of the segment
       need: the states before each step, or something smaller in their place;
    2. the steps are differentiated from the last to the first: `restore` gives x_t, the step is
       traced once more with its products p_t as constants, and one vector-Jacobian product gives
       the cotangents of x_t, u_t, the constants, and p_t.
    The gradients of the weights, sum_t a_t' dp_t, are formed after the loop, as in
    `deferred_weight_grad`.
    `enter_segment` and `leave_segment` change the form of the cotangent of the state, where a
    segment has a cheaper one; see `memory_reads`.
    Cost: products as in plain differentiation, everything else of a step twice, in memory for
    S checkpoints and the states of one segment.
Gain: a step of the transducer with a stack, 64 tokens, batch 10: 2.25x (128 to 59 ms) and 20
    instead of 58 MiB against `lax.scan`; 1.64x against `deferred_weight_grad`. Segments, at 1,024
    tokens (2026-11-27): a step of a superposition stack needs 1,899 instead of 10,573 MiB.
Device: one core of an AMD EPYC. Date: 2026-11-28. JAX 0.10.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from daxy.kernels.deferred_weight_grad import Apply, Weights, multiply, weight_gradient

Tree: TypeAlias = Any
"""Any nest of arrays that JAX maps over."""


class Segment(NamedTuple):
    """Consecutive steps on the way back; all but the checkpoint have a leading axis for time."""

    checkpoint: Tree
    """`Recurrence.checkpoint` of the state before the first of them."""
    residuals: Tree
    """`Recurrence.residuals` of the state before each of them."""
    products: dict[str, Array]
    """The product of each weight."""
    inputs: Tree


@runtime_checkable
class Recurrence(Protocol):
    """A step, and what is saved of its state."""

    def step(
        self, apply: Apply, constants: Tree, state: Tree, inputs: Tree, precomputed: Tree, /
    ) -> tuple[Tree, Tree]:
        """Return the next state and an output; `precomputed` is None on the way forward.

        Each weight is applied once, always in the same steps.
        """
        ...

    def residuals(self, state: Tree, /) -> Tree:
        """Return what is saved of the state before each step."""
        ...

    def checkpoint(self, state: Tree, /) -> Tree:
        """Return what is saved of the state before the first step of a segment."""
        ...

    def precompute(
        self, constants: Tree, segment: Segment, last: Tree, cotangent: Tree, /
    ) -> tuple[Tree, Tree]:
        """Return what `restore` needs for each step of a segment, and what all its steps share.

        `last` is the state after the last step of all, `cotangent` that of the state after this
        segment.
        """
        ...

    def restore(self, own: Tree, precomputed: Tree, /) -> Tree:
        """Return the state before a step, from its share of what `precompute` returned.

        Parts that the step does not look at may have any value; they set the shape of cotangents.
        """
        ...

    def enter_segment(self, cotangent: Tree, precomputed: Tree, /) -> Tree:
        """Return the cotangent of the state after a segment, in the shapes of `restore`."""
        ...

    def leave_segment(self, cotangent: Tree, precomputed: Tree, /) -> Tree:
        """Return the cotangent of the state before a segment, in the shapes of the state."""
        ...


def scan(
    recurrence: Recurrence,
    weights: Weights,
    constants: Tree,
    state: Tree,
    inputs: Tree,
    *,
    segments: int = 1,
) -> Tree:
    """Take the steps of a recurrence over the leading axis of `inputs`; return its outputs.

    Same values and gradients as `lax.scan`.

    Args:
        recurrence: One step.
        weights: Matrices that the step multiplies by.
        constants: Arrays that every step reads.
        state: The state before the first step.
        inputs: The inputs of all steps.
        segments: Parts of one length for the way back. More need less memory; results are equal.

    Raises:
        ValueError: the number of steps is no multiple of `segments`.
    """
    steps = len(jax.tree.leaves(inputs)[0])
    if segments < 1 or steps % segments:
        raise ValueError(f"{steps} steps do not divide into {segments} segments")
    return _Scan(recurrence, segments).run(dict(weights), constants, state, inputs)


@dataclass(frozen=True)
class _Scan:
    recurrence: Recurrence
    segments: int

    def run(self, weights: Weights, constants: Tree, state: Tree, inputs: Tree) -> Tree:
        run = jax.custom_vjp(lambda *arguments: self._forward(*arguments)[0])
        run.defvjp(self._forward, self._backward)
        return run(weights, constants, state, inputs)

    def _forward(
        self, weights: Weights, constants: Tree, state: Tree, inputs: Tree
    ) -> tuple[Tree, Tree]:
        def step(state: Tree, inputs: Tree) -> tuple[Tree, Tree]:
            products = dict[str, Array]()

            def apply(name: str, rows: Array, /) -> Array:
                assert name not in products, f"{name} is applied twice in one step"
                products[name] = multiply(rows, weights[name])
                return products[name]

            after, output = self.recurrence.step(apply, constants, state, inputs, None)
            return after, (output, self.recurrence.residuals(state), products)

        def run_segment(state: Tree, inputs: Tree) -> tuple[Tree, Tree]:
            after, (outputs, residuals, products) = jax.lax.scan(step, state, inputs)
            checkpoint = self.recurrence.checkpoint(state)
            return after, (outputs, Segment(checkpoint, residuals, products, inputs))

        last, (outputs, saved) = jax.lax.scan(run_segment, state, self._split(inputs))
        return _joined(outputs), (weights, constants, saved, last)

    def _backward(self, residuals: Tree, cotangents: Tree) -> tuple[Tree, Tree, Tree, Tree]:
        weights, constants, segments, last = residuals
        transposed = {name: weight.swapaxes(-1, -2) for name, weight in weights.items()}

        def segment_back(carry: tuple[Tree, Tree], these: tuple[Segment, Tree]) -> Any:
            return self._segment_back(transposed, constants, last, carry, *these)

        start = _zeros(last), _zeros(constants)
        (to_state, to_constants), gradients = jax.lax.scan(
            segment_back, start, (segments, self._split(cotangents)), reverse=True
        )
        to_inputs, rows, to_products = _joined(gradients)
        to_weights = {
            name: weight_gradient(weight.ndim, rows[name], to_products[name])
            for name, weight in weights.items()
        }
        return to_weights, to_constants, to_state, to_inputs

    def _segment_back(
        self,
        transposed: Weights,
        constants: Tree,
        last: Tree,
        carry: tuple[Tree, Tree],
        segment: Segment,
        cotangents: Tree,
    ) -> tuple[tuple[Tree, Tree], Tree]:
        """Return the cotangents of the state before a segment and of the constants so far.

        Beside them, of each step, the gradients of its inputs and products and the rows that met
        each weight.
        """
        state_cotangent, total = carry
        numbers, marks = eqx.partition(segment.inputs, eqx.is_inexact_array)
        own, shared = self.recurrence.precompute(constants, segment, last, state_cotangent)

        def step_back(carry: tuple[Tree, Tree], step: Tree) -> tuple[tuple[Tree, Tree], Tree]:
            (after, total), (own, numbers, marks, products, cotangent) = carry, step
            again = partial(self._step_again, transposed, products, marks, shared)
            state = self.recurrence.restore(own, shared)
            arguments = constants, state, numbers, _zeros(products)
            _, pull_back, rows = jax.vjp(again, *arguments, has_aux=True)
            to_constants, before, to_numbers, to_products = pull_back((after, cotangent))
            total = jax.tree.map(jnp.add, total, to_constants)
            return (before, total), (to_numbers, rows, to_products)

        start = self.recurrence.enter_segment(state_cotangent, shared), total
        steps = own, numbers, marks, segment.products, cotangents
        (before, total), gradients = jax.lax.scan(step_back, start, steps, reverse=True)
        return (self.recurrence.leave_segment(before, shared), total), gradients

    def _split(self, steps: Tree) -> Tree:
        """Divide the leading axis into segments and their steps."""

        def divided(values: Array) -> Array:
            return values.reshape(self.segments, len(values) // self.segments, *values.shape[1:])

        return jax.tree.map(divided, steps)

    def _step_again(
        self,
        transposed: Weights,
        products: dict[str, Array],
        marks: Tree,
        shared: Tree,
        constants: Tree,
        state: Tree,
        numbers: Tree,
        sinks: dict[str, Array],
    ) -> tuple[tuple[Tree, Tree], dict[str, Array]]:
        """Return the results of a step, and the rows that met each weight."""
        rows = dict[str, Array]()

        def apply(name: str, incoming: Array, /) -> Array:
            rows[name] = incoming
            return _saved_product(incoming, products[name], transposed[name], sinks[name])

        inputs = eqx.combine(numbers, marks)
        return self.recurrence.step(apply, constants, state, inputs, shared), rows


@jax.custom_vjp
def _saved_product(rows: Array, product: Array, transposed: Array, sink: Array) -> Array:
    """Return the saved product of rows and a weight; its cotangent goes to `sink` too."""
    del rows, transposed, sink
    return product


def _saved_forward(
    rows: Array, product: Array, transposed: Array, sink: Array
) -> tuple[Array, Array]:
    return _saved_product(rows, product, transposed, sink), transposed


def _saved_backward(transposed: Array, cotangent: Array) -> tuple[Array, None, None, Array]:
    return multiply(cotangent, transposed), None, None, cotangent


_saved_product.defvjp(_saved_forward, _saved_backward)


def _joined(segments: Tree) -> Tree:
    """Join segments and their steps to one axis again."""
    return jax.tree.map(lambda values: jax.lax.collapse(values, 0, 2), segments)


def _zeros(tree: Tree) -> Tree:
    return jax.tree.map(jnp.zeros_like, tree)
