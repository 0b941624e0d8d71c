"""A recurrent layer over a whole sequence, in either direction."""

from __future__ import annotations

from typing import NamedTuple

import jax
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from daxy.kernels.deferred_weight_grad import Apply, scan
from daxy.models.layers.cells import RNNCell, State
from daxy.models.layers.initial import uniform
from daxy.models.layers.linear import matmul


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
    ) -> tuple[Float[Array, "time batch hidden"], ...]:
        """Return the state after each step, each part of it stacked over time.

        Args:
            cell: The kind of recurrent unit.
            rows: The input of each step.
            is_token: False at padding, where a state stays as it is.
            start: The state before the first step; zero unless given.
            reverse: Take the last row first; states keep the order of the rows.
        """
        start = start or cell.zero_state(rows.shape[1], len(self.state_to_gates))
        weights = {"state": self.state_to_gates}
        # With one row per step, one product of all steps reads the weight of the inputs less often.
        is_single = rows.shape[1] == 1
        if is_single:
            rows = matmul(rows, self.input_to_gates) + self.input_bias
        else:
            weights["input"] = self.input_to_gates

        def advance(
            apply: Apply,
            biases: tuple[Array, Array],
            state: State,
            inputs: tuple[Array, Array | None],
        ) -> tuple[State, State]:
            row, is_token = inputs
            from_input = row if is_single else apply("input", row) + biases[0]
            from_state = apply("state", state[0]) + biases[1]
            after = cell.masked_step(is_token, state, from_input, from_state)
            return after, after

        biases, inputs = (self.input_bias, self.state_bias), (rows, is_token)
        return scan(advance, weights, biases, start, inputs, reverse=reverse)


def init_layer(cell: RNNCell, incoming: int, hidden: int, *, key: PRNGKeyArray) -> RecurrentLayer:
    """Return initial weights, all from PyTorch's distribution for a recurrent layer."""
    keys = jax.random.split(key, 4)
    gates = cell.gates * hidden
    shapes = ((incoming, gates), (hidden, gates), (gates,), (gates,))
    pairs = zip(keys, shapes, strict=True)
    return RecurrentLayer(*(uniform(key, shape, hidden) for key, shape in pairs))
