"""The cells go back as they came: their gradients are those of what they compute."""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads
from jaxtyping import Array

from daxy.models.layers.cells import CELLS, RNNCell


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


def draws(cell: RNNCell) -> tuple[tuple[Array, ...], Array, Array]:
    """Return a state of three examples and four units, and what meets it."""
    draw = np.random.default_rng(0)
    state = tuple(jnp.asarray(draw.normal(size=(3, 4))) for _ in range(cell.parts))
    from_input, from_state = jnp.asarray(draw.normal(size=(2, 3, 4 * cell.gates)))
    return state, from_input, from_state


@pytest.mark.parametrize("name", CELLS)
def test_gradients_are_those_of_finite_differences(name: str) -> None:
    cell = CELLS[name]

    def step(*arguments: Any) -> Any:
        return cell.step(*jax.tree.map(jnp.asarray, arguments))

    check_grads(jax.jit(step), draws(cell), order=1, modes=["rev"], atol=1e-8, rtol=1e-6)


def test_the_gru_is_the_one_of_its_equations() -> None:
    state, from_input, from_state = draws(CELLS["gru"])
    (found,) = CELLS["gru"].step(state, from_input, from_state)
    (hidden,) = state
    reset_in, update_in, new_in = np.split(np.asarray(from_input), 3, axis=1)
    reset_state, update_state, new_state = np.split(np.asarray(from_state), 3, axis=1)
    reset = 1 / (1 + np.exp(-(reset_in + reset_state)))
    update = 1 / (1 + np.exp(-(update_in + update_state)))
    new = np.tanh(new_in + reset * new_state)
    np.testing.assert_allclose(found, (1 - update) * new + update * hidden, rtol=1e-12)


def test_the_lstm_is_the_one_of_its_equations() -> None:
    state, from_input, from_state = draws(CELLS["lstm"])
    hidden, memory = CELLS["lstm"].step(state, from_input, from_state)
    gates = np.split(np.asarray(from_input + from_state), 4, axis=1)
    entry, forget, exit_ = (1 / (1 + np.exp(-gates[place])) for place in (0, 1, 3))
    expected = forget * np.asarray(state[1]) + entry * np.tanh(gates[2])
    np.testing.assert_allclose(memory, expected, rtol=1e-12)
    np.testing.assert_allclose(hidden, exit_ * np.tanh(expected), rtol=1e-12)
