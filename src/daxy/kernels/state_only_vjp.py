"""A recurrence of one row per step whose gradients are formed from its states alone.

Problem: with a single row a recurrence is bound by the number of operations in a step and by how
    often its weights are read. JAX saves the gates of each step inside the loop.
Method: the loop saves the states and nothing else. Once they are known, the gates of all steps are
    recomputed as one product, and their derivatives are formed for all steps at once. The way back
    then multiplies the cotangent of each state with the weights, step by step. The states may
    also come from elsewhere, such as free-running decoding. With several rows it does not pay to
    multiply twice: see `deferred_weight_grad`.
Gain: a step of two LSTM layers of 200, batch 1, against `deferred_weight_grad`: 1.18x for two seeds
    on two cores (281 to 333 steps a second), 1.13x for one seed; one GRU layer of 50: none.
Device: two cores of an AMD EPYC. Date: 2026-11-22. JAX 0.10.2.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from daxy.kernels.gated_cells import Gates, State
from daxy.kernels.matmul import matmul, sum_outer_products

States: TypeAlias = tuple[Float[Array, "time batch hidden"], ...]
"""Every state of a recurrence, each part of it stacked over time."""
Step: TypeAlias = Callable[[State, Gates, Gates], State]
"""step(state, from_input, from_state) -> next state, of a recurrent cell."""


class RecurrenceInputs(NamedTuple):
    """All that decides the states of a recurrence."""

    start: State
    """The state before the first step."""
    from_input: Float[Array, "time batch gates"]
    """With the input's bias."""
    weight: Float[Array, "hidden gates"]
    bias: Float[Array, " gates"]
    is_token: Bool[Array, "time batch"] | None
    """Where it is False the state stays as it is."""


def scan(step: Step, inputs: RecurrenceInputs, *, reverse: bool = False) -> States:
    """Return every state.

    With `reverse` the last step is taken first; states keep the order of the inputs.
    """
    fixed = jax.lax.stop_gradient(inputs)

    def advance(state: State, step_inputs: tuple[Array, Array | None]) -> tuple[State, State]:
        from_input, is_token = step_inputs
        from_state = state[0] @ fixed.weight + fixed.bias
        after = masked_step(step, is_token, state, from_input, from_state)
        return after, after

    rows = fixed.from_input, fixed.is_token
    states = jax.lax.scan(advance, fixed.start, rows, reverse=reverse)[1]
    return attach_gradients(step, inputs, states, reverse=reverse)


def attach_gradients(
    step: Step, inputs: RecurrenceInputs, states: States, *, reverse: bool = False
) -> States:
    """Return the states, which have to be those of the inputs, as a function of the inputs."""
    return _states(step, reverse)(states, inputs)


def masked_step(
    step: Step, is_token: Bool[Array, " batch"] | None, state: State, *gates: Gates
) -> State:
    """Return the state after a step, or the same where there is no token."""
    after = step(state, *gates)
    if is_token is None:
        return after
    return jax.tree.map(partial(jnp.where, is_token[:, None]), after, state)


def _states(step: Step, reverse: bool) -> Callable[[States, RecurrenceInputs], States]:
    @jax.custom_vjp
    def identity(states: States, inputs: RecurrenceInputs) -> States:
        del inputs
        return states

    def forward(states: States, inputs: RecurrenceInputs) -> tuple[States, Any]:
        return states, (inputs, states)

    def backward(residuals: Any, cotangents: States) -> tuple[None, RecurrenceInputs]:
        return None, _gradients(step, reverse, *residuals, cotangents)

    identity.defvjp(forward, backward)
    return identity


def _gradients(
    step: Step, reverse: bool, inputs: RecurrenceInputs, states: States, cotangents: States
) -> RecurrenceInputs:
    """Return the gradients of the inputs."""
    before = jax.tree.map(partial(_shifted, reverse=reverse), inputs.start, states)
    gates = inputs.from_input, matmul(before[0], inputs.weight) + inputs.bias

    def pull_back(before: State, is_token: Array | None, *gates: Gates) -> Callable[..., Any]:
        return jax.vjp(partial(masked_step, step, is_token), before, *gates)[1]

    def step_back(after: State, step_inputs: tuple[Callable[..., Any], State]) -> Any:
        pull, cotangent = step_inputs
        before, to_input, to_state = pull(jax.tree.map(jnp.add, after, cotangent))
        hidden = before[0] + jnp.einsum("bo,io->bi", to_state, inputs.weight)
        return (hidden, *before[1:]), (to_input, to_state)

    pulls = jax.vmap(pull_back)(before, inputs.is_token, *gates)
    zeros = jax.tree.map(jnp.zeros_like, inputs.start)
    start, (to_input, to_state) = jax.lax.scan(
        step_back, zeros, (pulls, cotangents), reverse=not reverse
    )
    weight = sum_outer_products(before[0], to_state)
    return RecurrenceInputs(start, to_input, weight, to_state.sum(axis=(0, 1)), None)


def _shifted(
    start: Float[Array, "batch hidden"], states: Float[Array, "time batch hidden"], *, reverse: bool
) -> Float[Array, "time batch hidden"]:
    """Return the state before each step."""
    parts = (states[1:], start[None]) if reverse else (start[None], states[:-1])
    return jnp.concatenate(parts)
