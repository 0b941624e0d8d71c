"""A bidirectional recurrent encoder of one layer."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from daxy.core.vocabulary import PAD
from daxy.models.layers import late_weights
from daxy.models.layers.cells import Cell, State, zero_state
from daxy.models.layers.dropout import Dropout, drop
from daxy.models.layers.embedding import embed
from daxy.models.layers.initial import normal, uniform
from daxy.models.layers.linear import times


class Encoder(eqx.Module):
    """Two recurrences, forwards and backwards, as one program over a leading direction axis."""

    embedding: Float[Array, "symbols embedding"]
    input_to_gates: Float[Array, "2 embedding gates"]
    input_bias: Float[Array, "2 gates"]
    state_to_gates: Float[Array, "2 hidden gates"]
    state_bias: Float[Array, "2 gates"]

    def __init__(
        self, cell: Cell, symbols: int, embedding: int, hidden: int, *, key: PRNGKeyArray
    ) -> None:
        keys = jax.random.split(key, 5)
        gates = cell.gates * hidden
        self.embedding = normal(keys[0], (symbols, embedding))
        self.input_to_gates = uniform(keys[1], (2, embedding, gates), hidden)
        self.input_bias = uniform(keys[2], (2, gates), hidden)
        self.state_to_gates = uniform(keys[3], (2, hidden, gates), hidden)
        self.state_bias = uniform(keys[4], (2, gates), hidden)

    def __call__(
        self, cell: Cell, source: Int[Array, "batch source"], noise: Dropout | None
    ) -> tuple[Float[Array, "batch source twice_hidden"], tuple[Float[Array, "batch twice"], ...]]:
        """Return the outputs of both directions side by side, and the final state likewise.

        At padding a state stays as it is, so that the backward direction starts, at the zero state,
        with the last token, and the forward one ends with it.
        """
        codes = source.T
        embedded = drop(noise, "source embedding", embed(self.embedding, codes))
        both = jnp.stack([embedded, embedded[::-1]])
        is_token = jnp.stack([codes, codes[::-1]]) != PAD
        gates = jax.vmap(times)(both, self.input_to_gates)
        gates = gates + self.input_bias[:, None, None]
        first = zero_state(cell, source.shape[0], self.state_to_gates.shape[1])

        def direction(
            weight: Array, bias: Array, gates: Array, is_token: Array
        ) -> tuple[Array, ...]:
            def advance(
                apply: late_weights.Apply, bias: Array, state: State, step: tuple[Array, Array]
            ) -> tuple[State, State]:
                gates, is_token = step
                after = cell.step(state, gates, apply("state", state[0]) + bias)
                after = jax.tree.map(
                    lambda new, old: jnp.where(is_token[:, None], new, old), after, state
                )
                return after, after

            return late_weights.scan(advance, {"state": weight}, bias, first, (gates, is_token))

        states = jax.vmap(direction)(self.state_to_gates, self.state_bias, gates, is_token)
        final = tuple(jnp.concatenate([part[0, -1], part[1, -1]], axis=-1) for part in states)
        hidden = states[0]
        outputs = jnp.concatenate([hidden[0], hidden[1, ::-1]], axis=-1)
        return outputs.swapaxes(0, 1), final
