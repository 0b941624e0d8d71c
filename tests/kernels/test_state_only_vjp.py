"""A recurrence that is differentiated from its states is a plain scan, in values and gradients."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from daxy.kernels.state_only_vjp import (
    RecurrenceInputs,
    States,
    attach_gradients,
    masked_step,
    scan,
)
from daxy.models.layers.cells import CELLS, cell

TIME, HIDDEN = 6, 4
MASK = jnp.array([True, True, False, True, False, False])[:, None]


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    """Compute in float64, so that a wrong term cannot hide behind rounding."""
    with jax.enable_x64(True):
        yield


def recurrence_inputs(name: str, is_token: jax.Array | None) -> RecurrenceInputs:
    draws, kind = np.random.default_rng(0), cell(name)
    gates = kind.gates * HIDDEN
    start = tuple(jnp.asarray(draws.normal(size=(1, HIDDEN))) for _ in range(kind.parts))
    shapes = (TIME, 1, gates), (HIDDEN, gates), (gates,)
    return RecurrenceInputs(
        start, *(jnp.asarray(draws.normal(size=shape)) for shape in shapes), is_token
    )


def plain(name: str, inputs: RecurrenceInputs, reverse: bool) -> States:
    def step(state, here):  # pyright: ignore
        from_input, is_token = here
        from_state = state[0] @ inputs.weight + inputs.bias
        after = masked_step(cell(name).step, is_token, state, from_input, from_state)
        return after, after

    steps = inputs.from_input, inputs.is_token
    return jax.lax.scan(step, inputs.start, steps, reverse=reverse)[1]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("is_token", [None, MASK], ids=["every", "some"])
@pytest.mark.parametrize("name", CELLS)
def test_values_and_gradients_are_those_of_a_scan(
    name: str, is_token: jax.Array | None, reverse: bool
) -> None:
    inputs = recurrence_inputs(name, is_token)
    weights = jnp.asarray(np.random.default_rng(1).normal(size=(TIME, 1, HIDDEN)))

    def outcome(states: States) -> jax.Array:
        return sum((weights * jnp.sin(part)).sum() * (n + 1) for n, part in enumerate(states))

    def differentiable(parts: RecurrenceInputs) -> RecurrenceInputs:
        return parts._replace(is_token=is_token)

    def ours(parts: RecurrenceInputs) -> jax.Array:
        return outcome(scan(cell(name).step, differentiable(parts), reverse=reverse))

    def known(parts: RecurrenceInputs) -> jax.Array:
        states = plain(name, inputs, reverse)
        return outcome(
            attach_gradients(cell(name).step, differentiable(parts), states, reverse=reverse)
        )

    def theirs(parts: RecurrenceInputs) -> jax.Array:
        return outcome(plain(name, differentiable(parts), reverse))

    parts = inputs._replace(is_token=None)
    value, gradient = jax.value_and_grad(theirs)(parts)
    assert all((abs(leaf) > 1e-3).any() for leaf in jax.tree.leaves(gradient))
    for way in (ours, known):
        own_value, own_gradient = jax.value_and_grad(way)(parts)
        np.testing.assert_allclose(own_value, value, rtol=1e-12)
        for own, leaf in zip(*map(jax.tree.leaves, (own_gradient, gradient)), strict=True):
            np.testing.assert_allclose(own, leaf, rtol=1e-10, atol=1e-12)
