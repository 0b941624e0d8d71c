"""Greedy decoding, written once against `start` and `step`."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from daxy.core.vocabulary import END, PAD
from daxy.models._model import Model


class _Search(NamedTuple):
    length: Int[Array, ""]
    state: Any
    previous: Int[Array, " batch"]
    ended: Bool[Array, " batch"]
    found: Int[Array, "limit batch"]


def greedy(
    model: Model, source: Int[Array, "batch source"], limit: int
) -> Int[Array, "batch limit"]:
    """Return the best token at each step until END, at most `limit` of them; PAD after that.

    PAD is never chosen: no target has it. The search ends when every sequence has.
    """
    batch = source.shape[0]

    def unfinished(search: _Search) -> Bool[Array, ""]:
        return (search.length < limit) & ~search.ended.all()

    def extend(search: _Search) -> _Search:
        state, logits = model.step(search.state, search.previous)
        best = jnp.argmax(logits.at[:, PAD].set(-jnp.inf), axis=-1).astype(source.dtype)
        token = jnp.where(search.ended, PAD, best)
        found = search.found.at[search.length].set(token)
        ended = search.ended | (token == END)
        return _Search(search.length + 1, state, token, ended, found)

    first = _Search(
        jnp.array(0),
        model.start(source),
        jnp.full(batch, PAD, source.dtype),
        jnp.zeros(batch, bool),
        jnp.full((limit, batch), PAD, source.dtype),
    )
    return jax.lax.while_loop(unfinished, extend, first).found.T
