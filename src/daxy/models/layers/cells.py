"""Recurrent cells: what happens to a state once its inputs have been multiplied by the weights.

Gate order and bias places are PyTorch's, so that its weights can be loaded as they are. A state is
a tuple whose first part is the hidden vector that other layers see.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from daxy.models.configs._cells import check_cell

State: TypeAlias = tuple[Float[Array, "batch hidden"], ...]
Gates: TypeAlias = Float[Array, "batch gates"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of recurrent unit."""

    name: str
    gates: int
    """Pre-activations per hidden unit."""
    parts: int
    """Vectors in the state: the hidden one, and the LSTM's memory cell."""
    step: Callable[[State, Gates, Gates], State]
    """step(state, from_input, from_state) -> next state; both with their biases added."""


def _srn(state: State, from_input: Gates, from_state: Gates) -> State:
    """Return tanh(W x + U h) (Elman 1990)."""
    del state
    return (jnp.tanh(from_input + from_state),)


# The cells with gates say how to go back: JAX would keep every intermediate product of every step,
# some twelve vectors where these keep five or six, and storing them costs more than making them.
@jax.custom_vjp
def _gru(state: State, from_input: Gates, from_state: Gates) -> State:
    """Return the gated recurrent unit's next state (Cho et al. 2014; reset after the product)."""
    return _gru_forward(state, from_input, from_state)[0]


def _gru_forward(state: State, from_input: Gates, from_state: Gates) -> tuple[State, State]:
    (hidden,) = state
    reset_in, update_in, new_in = jnp.split(from_input, 3, axis=-1)
    reset_state, update_state, new_state = jnp.split(from_state, 3, axis=-1)
    reset = jax.nn.sigmoid(reset_in + reset_state)
    update = jax.nn.sigmoid(update_in + update_state)
    new = jnp.tanh(new_in + reset * new_state)
    return (new + update * (hidden - new),), (hidden, new_state, reset, update, new)


def _gru_backward(kept: State, cotangent: State) -> tuple[State, Gates, Gates]:
    hidden, new_state, reset, update, new = kept
    (after,) = cotangent
    to_new = after * (1 - update) * (1 - new**2)
    to_update = after * (hidden - new) * update * (1 - update)
    to_reset = to_new * new_state * reset * (1 - reset)
    to_input = jnp.concatenate([to_reset, to_update, to_new], axis=-1)
    to_state = jnp.concatenate([to_reset, to_update, to_new * reset], axis=-1)
    return (after * update,), to_input, to_state


_gru.defvjp(_gru_forward, _gru_backward)


@jax.custom_vjp
def _lstm(state: State, from_input: Gates, from_state: Gates) -> State:
    """Return the long short-term memory's next state (Hochreiter & Schmidhuber 1997)."""
    return _lstm_forward(state, from_input, from_state)[0]


def _lstm_forward(state: State, from_input: Gates, from_state: Gates) -> tuple[State, State]:
    _, memory = state
    entry, forget, new, exit_ = jnp.split(from_input + from_state, 4, axis=-1)
    entry, forget, exit_ = (jax.nn.sigmoid(gate) for gate in (entry, forget, exit_))
    new = jnp.tanh(new)
    after = forget * memory + entry * new
    shown = jnp.tanh(after)
    return (exit_ * shown, after), (memory, entry, forget, new, exit_, shown)


def _lstm_backward(kept: State, cotangent: State) -> tuple[State, Gates, Gates]:
    memory, entry, forget, new, exit_, shown = kept
    to_hidden, to_memory = cotangent
    to_memory = to_memory + to_hidden * exit_ * (1 - shown**2)
    to_gates = jnp.concatenate(
        [
            to_memory * new * entry * (1 - entry),
            to_memory * memory * forget * (1 - forget),
            to_memory * entry * (1 - new**2),
            to_hidden * shown * exit_ * (1 - exit_),
        ],
        axis=-1,
    )
    return (jnp.zeros_like(to_hidden), to_memory * forget), to_gates, to_gates


_lstm.defvjp(_lstm_forward, _lstm_backward)


CELLS = {
    cell.name: cell
    for cell in (Cell("srn", 1, 1, _srn), Cell("gru", 3, 1, _gru), Cell("lstm", 4, 2, _lstm))
}


def cell(name: str) -> Cell:
    """Return the cell of that name.

    Raises:
        UnknownName: there is none.
    """
    check_cell(name)
    return CELLS[name]


def zero_state(kind: Cell, batch: int, hidden: int) -> State:
    """Return the state before the first token."""
    return tuple(jnp.zeros((batch, hidden), jnp.float32) for _ in range(kind.parts))
