"""A recurrence whose steps are gone through once more on the way back, their products excepted.

Of each step only its state and its products with weights are kept; what else the way back needs is
made of them again, which costs little, as products are most of what a step costs. So parts of a
state that the way back does not need, however large, are not kept at all; and when it begins, the
whole way is known (see `Course.foresee`). Gradients of weights are formed after the loop, as in
`late_weights`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from daxy.models.layers.late_weights import Apply, Weights, gradient, times

Tree: TypeAlias = Any
"""Any nest of arrays that JAX maps over."""


@runtime_checkable
class Course(Protocol):
    """What a recurrence does at each step, and what of it is kept."""

    def step(
        self, apply: Apply, constants: Tree, state: Tree, here: Tree, foreseen: Tree, /
    ) -> tuple[Tree, Tree]:
        """Return the next state and an output; `foreseen` is None on the way forward.

        Each weight is applied once, always in the same steps.
        """
        ...

    def kept(self, state: Tree, /) -> Tree:
        """Return what is kept of a state."""
        ...

    def foresee(self, kept: Tree, last: Tree, /) -> Tree:
        """Return what the way back is to know, of what was kept of all states and the last one."""
        ...

    def again(self, kept: Tree, foreseen: Tree, /) -> Tree:
        """Return a state of what was kept of it; what was not is not looked at."""
        ...


def scan(course: Course, weights: Weights, constants: Tree, state: Tree, inputs: Tree) -> Tree:
    """Go through the steps of a course over the leading axis of `inputs`; return its outputs.

    Same values and gradients as `lax.scan`. `constants` are arrays that every step reads.
    """
    return _Scan(course).run(dict(weights), constants, state, inputs)


@dataclass(frozen=True)
class _Scan:
    course: Course

    def run(self, weights: Weights, constants: Tree, state: Tree, inputs: Tree) -> Tree:
        run = jax.custom_vjp(lambda *given: self._forward(*given)[0])
        run.defvjp(self._forward, self._backward)
        return run(weights, constants, state, inputs)

    def _forward(
        self, weights: Weights, constants: Tree, state: Tree, inputs: Tree
    ) -> tuple[Tree, Tree]:
        def step(state: Tree, here: Tree) -> tuple[Tree, Tree]:
            products = dict[str, Array]()

            def apply(name: str, rows: Array, /) -> Array:
                assert name not in products, f"{name} is applied twice in one step"
                products[name] = times(rows, weights[name])
                return products[name]

            after, output = self.course.step(apply, constants, state, here, None)
            return after, (output, self.course.kept(state), products)

        last, (outputs, kept, products) = jax.lax.scan(step, state, inputs)
        foreseen = self.course.foresee(kept, last)
        return outputs, (weights, constants, inputs, kept, products, foreseen, _zeros(last))

    def _backward(self, known: Tree, cotangents: Tree) -> tuple[Tree, Tree, Tree, Tree]:
        weights, constants, inputs, kept, products, foreseen, after = known
        turned = {name: weight.swapaxes(-1, -2) for name, weight in weights.items()}
        numbers, marks = eqx.partition(inputs, eqx.is_inexact_array)

        def step(carry: tuple[Tree, Tree], here: Tree) -> tuple[tuple[Tree, Tree], Tree]:
            (after, total), (kept, numbers, marks, products, cotangent) = carry, here
            state = self.course.again(kept, foreseen)
            once_more = partial(self._once_more, turned, products, marks, foreseen)
            sinks = _zeros(products)
            _, pull_back, rows = jax.vjp(once_more, constants, state, numbers, sinks, has_aux=True)
            own, state, numbers, from_products = pull_back((after, cotangent))
            return (state, jax.tree.map(jnp.add, total, own)), (numbers, rows, from_products)

        begin = after, _zeros(constants)
        steps = kept, numbers, marks, products, cotangents
        (state, total), (to_inputs, rows, from_products) = jax.lax.scan(
            step, begin, steps, reverse=True
        )
        to_weights = {
            name: gradient(weights[name].ndim, rows[name], from_products[name]) for name in weights
        }
        return to_weights, total, state, to_inputs

    def _once_more(
        self,
        turned: Weights,
        products: dict[str, Array],
        marks: Tree,
        foreseen: Tree,
        constants: Tree,
        state: Tree,
        numbers: Tree,
        sinks: dict[str, Array],
    ) -> tuple[tuple[Tree, Tree], dict[str, Array]]:
        """Return what a step came to, and the rows that met each weight."""
        rows = dict[str, Array]()

        def apply(name: str, incoming: Array, /) -> Array:
            rows[name] = incoming
            return _known(incoming, products[name], turned[name], sinks[name])

        here = eqx.combine(numbers, marks)
        return self.course.step(apply, constants, state, here, foreseen), rows


@jax.custom_vjp
def _known(rows: Array, product: Array, turned: Array, sink: Array) -> Array:
    """Return the product of rows and a weight, which is known; its cotangent goes to `sink` too."""
    del rows, turned, sink
    return product


def _known_forward(rows: Array, product: Array, turned: Array, sink: Array) -> tuple[Array, Array]:
    return _known(rows, product, turned, sink), turned


def _known_backward(turned: Array, cotangent: Array) -> tuple[Array, None, None, Array]:
    return times(cotangent, turned), None, None, cotangent


_known.defvjp(_known_forward, _known_backward)


def _zeros(tree: Tree) -> Tree:
    return jax.tree.map(jnp.zeros_like, tree)
