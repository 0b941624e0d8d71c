"""One step of a stack of recurrent layers with or without attention, for `models.stacked`."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import jax.numpy as jnp
from jaxtyping import Array, Float

from daxy.models.layers.attention import AttentionKeys, attend
from daxy.models.layers.cells import RNNCell, State
from daxy.models.layers.dropout import Dropout
from daxy.models.layers.recurrence import RecurrentLayer

LayerStates: TypeAlias = tuple[State, ...]
"""A state per layer, from the first to the top one."""


class Attention(NamedTuple):
    """Weights of attention, with the keys and values of one batch of sources."""

    query: Float[Array, "hidden hidden"]
    keys: AttentionKeys
    score_vector: Float[Array, " hidden"]
    values: Float[Array, "batch source hidden"]
    context_to_gates: Float[Array, "hidden gates"]


class Masks(NamedTuple):
    """Factors of dropout, time first; None without dropout."""

    embedding: Float[Array, "*time batch hidden"] | None
    layers: Float[Array, "*time batch between hidden"] | None
    """Between each layer and the next."""

    @classmethod
    def draw(
        cls, dropout: Dropout | None, shape: tuple[int, ...], hidden: int, layers: int
    ) -> Masks:
        """Return the masks of every step, for targets of shape [time, batch]."""
        if dropout is None:
            return cls(None, None)
        ones = jnp.ones((*shape, hidden), jnp.float32)
        embedding = dropout("target embedding", ones, batch_axis=1)
        if layers == 1:
            return cls(embedding, None)
        ones = jnp.ones((*shape, layers - 1, hidden), jnp.float32)
        return cls(embedding, dropout("between the decoder's layers", ones, batch_axis=1))


def stack_step(
    cell: RNNCell,
    layers: tuple[RecurrentLayer, ...],
    attention: Attention | None,
    states: LayerStates,
    from_token: Float[Array, "batch gates"],
    between: Float[Array, "batch between hidden"] | None,
) -> tuple[LayerStates, Float[Array, "batch features"], Float[Array, "batch source"] | None]:
    """Return the states after a token, features of the next one, and the attention weights.

    `from_token` includes the first layer's input bias.
    """
    from_input, context, weights = from_token, None, None
    if attention is not None:
        query = states[-1][0] @ attention.query
        weights = attend(query, attention.keys, attention.score_vector)
        context = jnp.einsum("bs,bsh->bh", weights, attention.values)
        from_input = from_input + context @ attention.context_to_gates
    after = list[State]()
    for number, (layer, state) in enumerate(zip(layers, states, strict=True)):
        if number > 0:
            rows = masked(after[-1][0], None if between is None else between[:, number - 1])
            from_input = rows @ layer.input_to_gates + layer.input_bias
        from_state = state[0] @ layer.state_to_gates + layer.state_bias
        after.append(cell.step(state, from_input, from_state))
    top = after[-1][0]
    features = top if context is None else jnp.concatenate([top, context], axis=1)
    return tuple(after), features, weights


def masked(rows: Array, mask: Array | None) -> Array:
    """Return rows times their mask, if there is one."""
    return rows if mask is None else rows * mask
