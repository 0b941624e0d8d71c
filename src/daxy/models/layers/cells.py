"""Recurrent cells: the next state, once inputs and state have been multiplied by the weights.

Gate order and bias places are PyTorch's, so that its weights can be loaded as they are. A state is
a tuple whose first part is the hidden vector that other layers see.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from daxy.models.configs._cells import check_cell

State: TypeAlias = tuple[Float[Array, "batch hidden"], ...]
"""The hidden vector, and after it the LSTM's memory cell."""
Gates: TypeAlias = Float[Array, "batch gates"]


@dataclass(frozen=True, slots=True)
class RNNCell:
    """One kind of recurrent unit."""

    name: str
    gates: int
    """Pre-activations per hidden unit."""
    parts: int
    """Vectors in the state: the hidden one, and the LSTM's memory cell."""
    step: Callable[[State, Gates, Gates], State]
    """step(state, from_input, from_state) -> next state; both with their biases added."""

    def masked_step(
        self,
        is_token: Bool[Array, " batch"] | None,
        state: State,
        from_input: Gates,
        from_state: Gates,
    ) -> State:
        """Return the state after a step, or the same where there is no token."""
        after = self.step(state, from_input, from_state)
        if is_token is None:
            return after
        return jax.tree.map(partial(jnp.where, is_token[:, None]), after, state)

    def zero_state(self, batch: int, hidden: int) -> State:
        """Return the state before the first token."""
        return tuple(jnp.zeros((batch, hidden), jnp.float32) for _ in range(self.parts))


def _srn_step(state: State, from_input: Gates, from_state: Gates) -> State:
    """Return tanh(W x + U h) (Elman 1990)."""
    del state
    return (jnp.tanh(from_input + from_state),)


def _gru_step(state: State, from_input: Gates, from_state: Gates) -> State:
    """Return the next state of a GRU (Cho et al. 2014; reset after the product)."""
    (hidden,) = state
    reset_in, update_in, new_in = jnp.split(from_input, 3, axis=-1)
    reset_state, update_state, new_state = jnp.split(from_state, 3, axis=-1)
    reset = jax.nn.sigmoid(reset_in + reset_state)
    update = jax.nn.sigmoid(update_in + update_state)
    new = jnp.tanh(new_in + reset * new_state)
    return (new + update * (hidden - new),)


def _lstm_step(state: State, from_input: Gates, from_state: Gates) -> State:
    """Return the next state of a long short-term memory (Hochreiter & Schmidhuber 1997)."""
    _, memory = state
    entry, forget, new, exit_ = jnp.split(from_input + from_state, 4, axis=-1)
    entry, forget, exit_ = (jax.nn.sigmoid(gate) for gate in (entry, forget, exit_))
    after = forget * memory + entry * jnp.tanh(new)
    return exit_ * jnp.tanh(after), after


CELLS = {
    cell.name: cell
    for cell in (
        RNNCell("srn", 1, 1, _srn_step),
        RNNCell("gru", 3, 1, _gru_step),
        RNNCell("lstm", 4, 2, _lstm_step),
    )
}
LSTM = CELLS["lstm"]


def cell(name: str) -> RNNCell:
    """Return the cell of that name.

    Raises:
        UnknownName: there is none.
    """
    check_cell(name)
    return CELLS[name]
