"""A bidirectional recurrent encoder of one layer."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from daxy.core.vocabulary import PAD
from daxy.models.layers.cells import RNNCell
from daxy.models.layers.dropout import Dropout, drop
from daxy.models.layers.embedding import FEW, embed, indicators
from daxy.models.layers.initial import normal, uniform
from daxy.models.layers.recurrence import RecurrentLayer


class Encoder(eqx.Module):
    """Two recurrences, forwards and backwards; parameters have a leading axis for the direction."""

    embedding: Float[Array, "symbols embedding"]
    input_to_gates: Float[Array, "2 embedding gates"]
    input_bias: Float[Array, "2 gates"]
    state_to_gates: Float[Array, "2 hidden gates"]
    state_bias: Float[Array, "2 gates"]

    def __init__(
        self, cell: RNNCell, symbols: int, embedding: int, hidden: int, *, key: PRNGKeyArray
    ) -> None:
        keys = jax.random.split(key, 5)
        gates = cell.gates * hidden
        self.embedding = normal(keys[0], (symbols, embedding))
        self.input_to_gates = uniform(keys[1], (2, embedding, gates), hidden)
        self.input_bias = uniform(keys[2], (2, gates), hidden)
        self.state_to_gates = uniform(keys[3], (2, hidden, gates), hidden)
        self.state_bias = uniform(keys[4], (2, gates), hidden)

    def __call__(
        self, cell: RNNCell, source: Int[Array, "batch source"], dropout: Dropout | None
    ) -> tuple[Float[Array, "batch source twice_hidden"], tuple[Float[Array, "batch twice"], ...]]:
        """Return the outputs of both directions side by side, and the final states.

        At padding a state stays as it is, so that the backward direction starts, at the zero state,
        with the last token, and the forward one ends with it.
        """
        codes = source.T
        rows, weights = self._inputs(codes, dropout)
        forwards, backwards = (
            RecurrentLayer(
                weights[way], self.state_to_gates[way], self.input_bias[way], self.state_bias[way]
            ).states(cell, rows, codes != PAD, reverse=way == 1)
            for way in (0, 1)
        )
        # A sequence of states ends where its direction does.
        ends = zip((part[-1] for part in forwards), (part[0] for part in backwards), strict=True)
        final = tuple(jnp.concatenate(pair, axis=-1) for pair in ends)
        outputs = jnp.concatenate([forwards[0], backwards[0]], axis=-1)
        return outputs.swapaxes(0, 1), final

    def _inputs(
        self, codes: Int[Array, "source batch"], dropout: Dropout | None
    ) -> tuple[Float[Array, "source batch incoming"], Float[Array, "2 incoming gates"]]:
        """Return the input of each token to the recurrences, and the weights that it meets.

        Without dropout between the embedding and the weights, the two are one linear map.
        """
        symbols = len(self.embedding)
        if dropout is None and symbols <= FEW:
            return indicators(codes, symbols), self.embedding @ self.input_to_gates
        embedded = embed(self.embedding, codes)
        return drop(dropout, "source embedding", embedded, batch_axis=1), self.input_to_gates


def summed(both: Float[Array, "*rows twice_hidden"]) -> Float[Array, "*rows hidden"]:
    """Return the sum of the two directions, which stand side by side."""
    forwards, backwards = jnp.split(both, 2, axis=-1)
    return forwards + backwards
