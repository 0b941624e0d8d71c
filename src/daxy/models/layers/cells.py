"""Recurrent cells: the next state, once inputs and state have been multiplied by the weights.

Gate order and bias places are PyTorch's, so that its weights can be loaded as they are. A state is
a tuple whose first part is the hidden vector that other layers see.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

from daxy.kernels.gated_cells import Gates, State, gru_step, lstm_step
from daxy.models.configs._cells import check_cell


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


CELLS = {
    cell.name: cell
    for cell in (
        RNNCell("srn", 1, 1, _srn_step),
        RNNCell("gru", 3, 1, gru_step),
        RNNCell("lstm", 4, 2, lstm_step),
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
