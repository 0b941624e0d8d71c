"""A recurrent layer over a whole sequence, in either direction."""

from __future__ import annotations

from typing import NamedTuple

import jax
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from daxy.models.layers import known_states, late_weights
from daxy.models.layers.cells import Cell, State, zero_state
from daxy.models.layers.initial import uniform
from daxy.models.layers.known_states import Course
from daxy.models.layers.linear import times


class Recurrence(NamedTuple):
    """The weights of one layer in one direction."""

    input_to_gates: Float[Array, "incoming gates"]
    state_to_gates: Float[Array, "hidden gates"]
    input_bias: Float[Array, " gates"]
    state_bias: Float[Array, " gates"]

    def states(
        self,
        cell: Cell,
        rows: Float[Array, "time batch incoming"],
        is_token: Bool[Array, "time batch"] | None = None,
        *,
        start: State | None = None,
        reverse: bool = False,
    ) -> tuple[Float[Array, "time batch hidden"], ...]:
        """Return every state, each part of it stacked over time, beside the rows that led to it.

        Where `is_token` is False, at padding, a state stays as it is: the last one is that of the
        last token, and with `reverse`, from the last row on, the first token met is the last. The
        state before is `start`, else zero.
        """
        start = start or zero_state(cell, rows.shape[1], len(self.state_to_gates))
        if rows.shape[1] == 1:
            return known_states.found(cell, self.course(rows, start, is_token), reverse=reverse)
        weights = {"state": self.state_to_gates, "input": self.input_to_gates}

        def advance(
            apply: late_weights.Apply,
            biases: tuple[Array, Array],
            state: State,
            step: tuple[Array, Array | None],
        ) -> tuple[State, State]:
            row, is_token = step
            from_input = apply("input", row) + biases[0]
            from_state = apply("state", state[0]) + biases[1]
            after = known_states.advanced(cell, is_token, state, from_input, from_state)
            return after, after

        biases = self.input_bias, self.state_bias
        return late_weights.scan(advance, weights, biases, start, (rows, is_token), reverse=reverse)

    def course(
        self,
        rows: Float[Array, "time batch incoming"],
        start: State,
        is_token: Bool[Array, "time batch"] | None = None,
    ) -> Course:
        """Return what decides the layer's states, all rows multiplied at once."""
        from_input = times(rows, self.input_to_gates) + self.input_bias
        return Course(start, from_input, self.state_to_gates, self.state_bias, is_token)


def drawn(cell: Cell, incoming: int, hidden: int, *, key: PRNGKeyArray) -> Recurrence:
    """Return initial weights, all from PyTorch's distribution for a recurrent layer."""
    keys = jax.random.split(key, 4)
    gates = cell.gates * hidden
    shapes = ((incoming, gates), (hidden, gates), (gates,), (gates,))
    pairs = zip(keys, shapes, strict=True)
    return Recurrence(*(uniform(own, shape, hidden) for own, shape in pairs))
