"""A recurrent layer over a whole sequence, in either direction."""

from __future__ import annotations

from typing import NamedTuple

import jax
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from daxy.kernels import deferred_weight_grad, state_only_vjp
from daxy.kernels.gated_cells import State
from daxy.kernels.matmul import matmul
from daxy.kernels.state_only_vjp import RecurrenceInputs, States, masked_step
from daxy.models.layers.cells import RNNCell
from daxy.models.layers.initial import uniform


class RecurrentLayer(NamedTuple):
    """The weights of one layer in one direction."""

    input_to_gates: Float[Array, "incoming gates"]
    state_to_gates: Float[Array, "hidden gates"]
    input_bias: Float[Array, " gates"]
    state_bias: Float[Array, " gates"]

    def states(
        self,
        cell: RNNCell,
        rows: Float[Array, "time batch incoming"],
        is_token: Bool[Array, "time batch"] | None = None,
        *,
        start: State | None = None,
        reverse: bool = False,
    ) -> States:
        """Return the state after each step.

        Args:
            cell: The kind of recurrent unit.
            rows: The input of each step.
            is_token: False at padding, where a state stays as it is.
            start: The state before the first step; zero unless given.
            reverse: Take the last row first; states keep the order of the rows.
        """
        start = start or cell.zero_state(rows.shape[1], len(self.state_to_gates))
        if rows.shape[1] == 1:
            inputs = self.recurrence_inputs(rows, start, is_token)
            return state_only_vjp.scan(cell.step, inputs, reverse=reverse)
        weights = {"state": self.state_to_gates, "input": self.input_to_gates}

        def advance(
            apply: deferred_weight_grad.Apply,
            biases: tuple[Array, Array],
            state: State,
            inputs: tuple[Array, Array | None],
        ) -> tuple[State, State]:
            row, is_token = inputs
            from_input = apply("input", row) + biases[0]
            from_state = apply("state", state[0]) + biases[1]
            after = masked_step(cell.step, is_token, state, from_input, from_state)
            return after, after

        biases, inputs = (self.input_bias, self.state_bias), (rows, is_token)
        return deferred_weight_grad.scan(advance, weights, biases, start, inputs, reverse=reverse)

    def recurrence_inputs(
        self,
        rows: Float[Array, "time batch incoming"],
        start: State,
        is_token: Bool[Array, "time batch"] | None = None,
    ) -> RecurrenceInputs:
        """Return all that decides the layer's states; all rows are multiplied at once."""
        from_input = matmul(rows, self.input_to_gates) + self.input_bias
        return RecurrenceInputs(start, from_input, self.state_to_gates, self.state_bias, is_token)


def init_layer(cell: RNNCell, incoming: int, hidden: int, *, key: PRNGKeyArray) -> RecurrentLayer:
    """Return initial weights, all from PyTorch's distribution for a recurrent layer."""
    keys = jax.random.split(key, 4)
    gates = cell.gates * hidden
    shapes = ((incoming, gates), (hidden, gates), (gates,), (gates,))
    pairs = zip(keys, shapes, strict=True)
    return RecurrentLayer(*(uniform(key, shape, hidden) for key, shape in pairs))
