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
    """Some steps one after the other, as the way back finds them; but for the first, by step."""

    at_start: Tree
    """What `Course.kept_at_start` kept of the state that they begin with."""
    kept: Tree
    """What `Course.kept` kept of the state before each of them."""
    products: dict[str, Array]
    """What each weight's rows came to."""
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

    def kept_at_start(self, state: Tree, /) -> Tree:
        """Return what is kept of the state before the first step of a stretch."""
        ...

    def foresee(
        self, constants: Tree, stretch: Stretch, last: Tree, later: Tree, /
    ) -> tuple[Tree, Tree]:
        """Return what `again` needs for each step of a stretch, and what all its steps share.

        `last` is the state after the last step of all, `later` the gradient of the state after this
        stretch.
        """
        ...

    def again(self, known: Tree, foreseen: Tree, /) -> Tree:
        """Return the state before a step, of its share of what `foresee` returned.

        Parts that the step does not look at may be anything; they say what shape gradients have.
        """
        ...

    def entering(self, later: Tree, foreseen: Tree, /) -> Tree:
        """Return what the last step of a stretch is given, of the gradient of the state after it.

        It has the shapes of the states that `again` returns.
        """
        ...

    def leaving(self, earlier: Tree, foreseen: Tree, /) -> Tree:
        """Return the gradient of the state before a stretch, of what its first step gave back."""
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

    Same values and gradients as `lax.scan`.

    Args:
        course: What a step does.
        weights: What it multiplies by.
        constants: Arrays that every step reads.
        state: What the first begins with.
        inputs: What each is given.
        stretches: In how many parts of one length the way back goes through the steps. That changes
            how much has to be kept, and no result.

    Raises:
        ValueError: the steps do not divide into so many.
    """
    steps = len(jax.tree.leaves(inputs)[0])
    if stretches < 1 or steps % stretches:
        raise ValueError(f"{steps} steps do not divide into {stretches} stretches")
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
            after, (outputs, kept, products) = jax.lax.scan(step, state, inputs)
            at_start = self.course.kept_at_start(state)
            return after, (outputs, Stretch(at_start, kept, products, inputs))

        last, (outputs, known) = jax.lax.scan(stretch, state, self._split(inputs))
        return _joined(outputs), (weights, constants, known, last)

    def _backward(self, known: Tree, cotangents: Tree) -> tuple[Tree, Tree, Tree, Tree]:
        weights, constants, stretches, last = known
        turned = {name: weight.swapaxes(-1, -2) for name, weight in weights.items()}

        def stretch(carry: tuple[Tree, Tree], here: tuple[Stretch, Tree]) -> tuple[Tree, Tree]:
            (later, total), (these, cotangents) = carry, here
            numbers, marks = eqx.partition(these.inputs, eqx.is_inexact_array)
            each, foreseen = self.course.foresee(constants, these, last, later)

            def step(carry: tuple[Tree, Tree], here: Tree) -> tuple[tuple[Tree, Tree], Tree]:
                (after, total), (own, numbers, marks, products, cotangent) = carry, here
                once_more = partial(self._once_more, turned, products, marks, foreseen)
                given = constants, self.course.again(own, foreseen), numbers, _zeros(products)
                _, pull_back, rows = jax.vjp(once_more, *given, has_aux=True)
                to_constants, before, to_numbers, from_products = pull_back((after, cotangent))
                total = jax.tree.map(jnp.add, total, to_constants)
                return (before, total), (to_numbers, rows, from_products)

            begin = self.course.entering(later, foreseen), total
            steps = each, numbers, marks, these.products, cotangents
            (earlier, total), found = jax.lax.scan(step, begin, steps, reverse=True)
            return (self.course.leaving(earlier, foreseen), total), found

        begin, here = (_zeros(last), _zeros(constants)), (stretches, self._split(cotangents))
        (to_state, to_constants), found = jax.lax.scan(stretch, begin, here, reverse=True)
        to_inputs, rows, from_products = _joined(found)
        to_weights = {
            name: gradient(weights[name].ndim, rows[name], from_products[name]) for name in weights
        }
        return to_weights, to_constants, to_state, to_inputs

    def _split(self, steps: Tree) -> Tree:
        """Divide the leading axis into stretches and their steps."""

        def divided(own: Array) -> Array:
            return own.reshape(self.stretches, len(own) // self.stretches, *own.shape[1:])

        return jax.tree.map(divided, steps)

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


def _joined(stretches: Tree) -> Tree:
    """Return all steps along one axis again."""
    return jax.tree.map(lambda own: jax.lax.collapse(own, 0, 2), stretches)


def _zeros(tree: Tree) -> Tree:
    return jax.tree.map(jnp.zeros_like, tree)
