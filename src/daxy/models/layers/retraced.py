"""A recurrence whose steps are gone through once more on the way back, their products excepted.

Of each step only its products with weights are kept, and of its state what a course wants kept;
what else the way back needs is made of them again, which costs little, as products are most of what
a step costs. So parts of a state that the way back does not need, however large, are not kept at
all. Others are kept where a stretch of steps begins, and are made again for all of it when the way
back enters it: what is needed of them at each step is there for one stretch at a time. Gradients of
weights are formed after the loop, as in `late_weights`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from daxy.models.layers.late_weights import Apply, Weights, gradient, times

Tree: TypeAlias = Any
"""Any nest of arrays that JAX maps over."""


class Stretch(NamedTuple):
    """Some steps one after the other, time first, as the way back finds them."""

    begun: Tree
    """What `Course.begun` kept of the state that they begin with."""
    kept: Tree
    """What `Course.kept` kept of the state before each of them."""
    products: dict[str, Array]
    inputs: Tree


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
        """Return what is kept of the state before each step."""
        ...

    def begun(self, state: Tree, /) -> Tree:
        """Return what is kept of a state that a stretch begins with."""
        ...

    def foresee(
        self, constants: Tree, stretch: Stretch, last: Tree, later: Tree, /
    ) -> tuple[Tree, Tree]:
        """Return what the way back is to know of each step of a stretch, and of all of them.

        Of the state after the last of all steps, too, and of its gradient where the stretch ends.
        """
        ...

    def again(self, known: Tree, foreseen: Tree, /) -> Tree:
        """Return the state before a step of what is known of it; the rest is not looked at."""
        ...

    def entering(self, later: Tree, foreseen: Tree, /) -> Tree:
        """Return the gradient of a state where a stretch ends as its steps hand it on."""
        ...

    def leaving(self, earlier: Tree, foreseen: Tree, /) -> Tree:
        """Return the gradient of the state where a stretch begins, of what its steps handed on."""
        ...


def scan(
    course: Course,
    weights: Weights,
    constants: Tree,
    state: Tree,
    inputs: Tree,
    *,
    stretches: int = 1,
) -> Tree:
    """Go through the steps of a course over the leading axis of `inputs`; return its outputs.

    Same values and gradients as `lax.scan`. `constants` are arrays that every step reads.

    Raises:
        ValueError: the stretches cannot be of one length.
    """
    steps = len(jax.tree.leaves(inputs)[0])
    if steps % stretches:
        raise ValueError(f"{steps} steps are not {stretches} stretches of one length")
    return _Scan(course, stretches).run(dict(weights), constants, state, inputs)


@dataclass(frozen=True)
class _Scan:
    course: Course
    stretches: int

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

        def stretch(state: Tree, inputs: Tree) -> tuple[Tree, Tree]:
            after, each = jax.lax.scan(step, state, inputs)
            return after, (self.course.begun(state), *each)

        last, (begun, outputs, kept, products) = jax.lax.scan(stretch, state, self._split(inputs))
        known = Stretch(begun, kept, products, inputs)
        return self._joined(outputs), (weights, constants, known, last)

    def _backward(self, known: Tree, cotangents: Tree) -> tuple[Tree, Tree, Tree, Tree]:
        weights, constants, (begun, kept, products, inputs), last = known
        turned = {name: weight.swapaxes(-1, -2) for name, weight in weights.items()}

        def stretch(carry: tuple[Tree, Tree], here: tuple[Stretch, Tree]) -> tuple[Tree, Tree]:
            (later, total), (own, cotangents) = carry, here
            numbers, marks = eqx.partition(own.inputs, eqx.is_inexact_array)
            each, foreseen = self.course.foresee(constants, own, last, later)

            def step(carry: tuple[Tree, Tree], here: Tree) -> tuple[tuple[Tree, Tree], Tree]:
                (after, total), (known, numbers, marks, products, cotangent) = carry, here
                state = self.course.again(known, foreseen)
                once_more = partial(self._once_more, turned, products, marks, foreseen)
                sinks = _zeros(products)
                given = constants, state, numbers, sinks
                _, pull_back, rows = jax.vjp(once_more, *given, has_aux=True)
                own, state, numbers, from_products = pull_back((after, cotangent))
                return (state, jax.tree.map(jnp.add, total, own)), (numbers, rows, from_products)

            begin = self.course.entering(later, foreseen), total
            steps = each, numbers, marks, own.products, cotangents
            (earlier, total), found = jax.lax.scan(step, begin, steps, reverse=True)
            return (self.course.leaving(earlier, foreseen), total), found

        here = Stretch(begun, kept, products, self._split(inputs)), self._split(cotangents)
        (state, total), found = jax.lax.scan(
            stretch, (_zeros(last), _zeros(constants)), here, reverse=True
        )
        to_inputs, rows, from_products = self._joined(found)
        to_weights = {
            name: gradient(weights[name].ndim, rows[name], from_products[name]) for name in weights
        }
        return to_weights, total, state, to_inputs

    def _split(self, steps: Tree) -> Tree:
        """Return what there is of each step by stretch."""
        return jax.tree.map(lambda own: own.reshape(self.stretches, -1, *own.shape[1:]), steps)

    def _joined(self, stretches: Tree) -> Tree:
        """Return what there is of each step of all stretches."""
        return jax.tree.map(lambda own: own.reshape(-1, *own.shape[2:]), stretches)

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
