"""One step of a stack of recurrent layers with or without attention, for `models.stacked`."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import jax.numpy as jnp
from jaxtyping import Array, Float

from daxy.kernels.deferred_weight_grad import Apply
from daxy.models.layers.attention import AttentionKeys, attend
from daxy.models.layers.cells import RNNCell, State
from daxy.models.layers.dropout import Dropout

LayerStates: TypeAlias = tuple[State, ...]
"""A state per layer, from the first to the top one."""


class Constants(NamedTuple):
    """Arrays that every step reads beside the weights."""

    keys: AttentionKeys | None
    score_vector: Float[Array, " hidden"] | None
    biases: tuple[tuple[Float[Array, " gates"] | None, Float[Array, " gates"]], ...]
    """Of input and state, a pair per layer; the first layer's input includes its bias already."""


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
    apply: Apply,
    constants: Constants,
    states: LayerStates,
    from_token: Float[Array, "batch gates"],
    between: Float[Array, "batch between hidden"] | None,
) -> tuple[LayerStates, Float[Array, "batch features"], Float[Array, "batch source"] | None]:
    """Return the states after a token, features of the next one, and the attention weights."""
    from_input, context, weights = from_token, None, None
    if constants.keys is not None and constants.score_vector is not None:
        query = apply("query", states[-1][0])
        weights = attend(query, constants.keys, constants.score_vector)
        context = apply("values", weights)
        from_input = from_input + apply("context", context)
    after = list[State]()
    for number, (state, (input_bias, state_bias)) in enumerate(
        zip(states, constants.biases, strict=True)
    ):
        if input_bias is not None:
            rows = masked(after[-1][0], None if between is None else between[:, number - 1])
            from_input = apply(f"input {number}", rows) + input_bias
        from_state = apply(f"state {number}", state[0]) + state_bias
        after.append(cell.step(state, from_input, from_state))
    top = after[-1][0]
    features = top if context is None else jnp.concatenate([top, context], axis=1)
    return tuple(after), features, weights


def masked(rows: Array, mask: Array | None) -> Array:
    """Return rows times their mask, if there is one."""
    return rows if mask is None else rows * mask
