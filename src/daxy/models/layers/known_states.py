"""A recurrence whose gradients are found from its states.

To find the states, one after the other, nothing but the product of each with the weights has to be
done. Once they are known, all that led to each of them is known for all steps at once; on the way
back only the products with the cotangents of the states are left to go step by step. That suits one
row a step, where what bounds a recurrence is the number of operations in a step and how often the
weights are read. Several rows a step would pay for multiplying them twice: see `late_weights`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from daxy.models.layers.cells import Cell, Gates, State
from daxy.models.layers.linear import summed_products, times

Trace: TypeAlias = tuple[Float[Array, "time batch hidden"], ...]
"""Every state of a recurrence, each part of it stacked over time."""


class Course(NamedTuple):
    """What decides a recurrence's states."""

    start: State
    """The state before the first step."""
    from_input: Float[Array, "time batch gates"]
    """With the input's bias."""
    weight: Float[Array, "hidden gates"]
    bias: Float[Array, " gates"]
    is_token: Bool[Array, "time batch"] | None
    """Where it is False the state stays as it is."""


def found(cell: Cell, course: Course, *, reverse: bool = False) -> Trace:
    """Return every state of the course.

    With `reverse` the last step comes first; the states stay beside what led to them.
    """
    fixed = jax.lax.stop_gradient(course)

    def advance(state: State, here: tuple[Array, Array | None]) -> tuple[State, State]:
        from_input, is_token = here
        from_state = state[0] @ fixed.weight + fixed.bias
        after = advanced(cell, is_token, state, from_input, from_state)
        return after, after

    steps = fixed.from_input, fixed.is_token
    states = jax.lax.scan(advance, fixed.start, steps, reverse=reverse)[1]
    return followed(cell, course, states, reverse=reverse)


def followed(cell: Cell, course: Course, states: Trace, *, reverse: bool = False) -> Trace:
    """Return the states, which have to be the course's own, with their gradients in its parts."""
    return _follow(cell, reverse)(states, course)


def advanced(
    cell: Cell, is_token: Bool[Array, " batch"] | None, state: State, *gates: Gates
) -> State:
    """Return the state after a step, or the same where there is no token."""
    after = cell.step(state, *gates)
    if is_token is None:
        return after
    return jax.tree.map(partial(jnp.where, is_token[:, None]), after, state)


def _follow(cell: Cell, reverse: bool) -> Callable[[Trace, Course], Trace]:
    @jax.custom_vjp
    def follow(states: Trace, course: Course) -> Trace:
        del course
        return states

    def forward(states: Trace, course: Course) -> tuple[Trace, tuple[Course, Trace]]:
        return states, (course, states)

    def backward(kept: tuple[Course, Trace], cotangents: Trace) -> tuple[None, Course]:
        course, states = kept
        before = jax.tree.map(partial(_shifted, reverse=reverse), course.start, states)
        gates = course.from_input, times(before[0], course.weight) + course.bias

        def pull_back(before: State, is_token: Array | None, *gates: Gates) -> Callable[..., Any]:
            return jax.vjp(partial(advanced, cell, is_token), before, *gates)[1]

        def back(after: State, here: tuple[Callable[..., Any], State]) -> Any:
            pull, own = here
            before, to_input, to_state = pull(jax.tree.map(jnp.add, after, own))
            hidden = before[0] + jnp.einsum("bo,io->bi", to_state, course.weight)
            return (hidden, *before[1:]), (to_input, to_state)

        pulls = jax.vmap(pull_back)(before, course.is_token, *gates)
        last = jax.tree.map(jnp.zeros_like, course.start)
        start, (to_input, to_state) = jax.lax.scan(
            back, last, (pulls, cotangents), reverse=not reverse
        )
        weight = summed_products(before[0], to_state)
        return None, Course(start, to_input, weight, to_state.sum(axis=(0, 1)), None)

    follow.defvjp(forward, backward)
    return follow


def _shifted(
    start: Float[Array, "batch hidden"], states: Float[Array, "time batch hidden"], *, reverse: bool
) -> Float[Array, "time batch hidden"]:
    """Return the state before each step."""
    parts = (states[1:], start[None]) if reverse else (start[None], states[:-1])
    return jnp.concatenate(parts)
