"""Decoding that shows more than the output: given lengths, last states, attention weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Integer
from numpy.typing import NDArray

from daxy.core.vocabulary import END, PAD
from daxy.models.api import Model, ModelInputs, greedy_token, init_decoder_state
from daxy.models.decoding.greedy import SLOTS


def greedy_of_length(
    model: Model, inputs: ModelInputs, lengths: Int[np.ndarray, " count"]
) -> NDArray[np.uint16]:
    """Return outputs of the given lengths, PAD after them.

    END is never chosen; where a model would end, its second most likely token is taken. A length
    that is known in advance is an oracle: this is no way to score a model (Lake & Baroni 2018,
    note 6).

    Args:
        model: One model.
        inputs: The sources.
        lengths: Tokens of each output.
    """
    max_length = int(lengths.max(initial=0))

    def decode(rows: tuple[ModelInputs, Array]) -> Array:
        return _decode_of_length(model, *rows, max_length)

    return _in_batches(decode, (inputs, lengths)).astype(np.uint16)


@partial(jax.jit, static_argnums=3)
def _decode_of_length(
    model: Model, inputs: ModelInputs, lengths: Int[Array, " slots"], max_length: int
) -> Int[Array, "slots max_length"]:
    def extend(carry: tuple[Any, Array], position: Array) -> tuple[tuple[Any, Array], Array]:
        state, logits = model.step(*carry)
        token = greedy_token(logits.at[:, END].set(-jnp.inf))
        return (state, token), jnp.where(position < lengths, token, PAD)

    first = jnp.full(len(lengths), PAD, jnp.int32)
    start = init_decoder_state(model, inputs, max_length), first
    return jax.lax.scan(extend, start, jnp.arange(max_length, dtype=jnp.int32))[1].T


def last_states(model: Model, inputs: ModelInputs, max_decode_length: int) -> NDArray[np.float32]:
    """Return the decoder's top state at END, or at the last token: [count, hidden]."""

    def decode(inputs: ModelInputs) -> Array:
        return _last_states(model, inputs, max_decode_length)

    return _in_batches(decode, inputs)


@partial(jax.jit, static_argnums=2)
def _last_states(
    model: Model, inputs: ModelInputs, max_decode_length: int
) -> Float[Array, "slots hidden"]:
    def extend(carry: tuple[Any, Array], _: None) -> tuple[tuple[Any, Array], tuple[Array, Array]]:
        state, logits = model.step(*carry)
        token = greedy_token(logits)
        return (state, token), (token == END, state.top)

    count = len(inputs.source)
    first = jnp.full(count, PAD, jnp.int32)
    start = init_decoder_state(model, inputs, max_decode_length), first
    _, (ends, states) = jax.lax.scan(extend, start, None, length=max_decode_length)
    last = jnp.where(ends.any(axis=0), ends.argmax(axis=0), max_decode_length - 1)
    return states[last, jnp.arange(count, dtype=jnp.int32)]


def alignments(
    model: Model, inputs: ModelInputs, outputs: Integer[np.ndarray, "count length"]
) -> NDArray[np.float32]:
    """Return the attention weights of each step: [count, length, positions].

    Args:
        model: A model whose states have `attention_weights`.
        inputs: The sources.
        outputs: The output of each, as codes with END; weights at PAD mean nothing.
    """

    def follow(rows: tuple[ModelInputs, Array]) -> Array:
        return _alignments(model, *rows)

    return _in_batches(follow, (inputs, outputs))


def mean_attention(
    model: Model, inputs: ModelInputs, outputs: Integer[np.ndarray, "count length"]
) -> NDArray[np.float32]:
    """Return the mean attention weights over the tokens of each output: [count, positions].

    The step of END counts only in an empty output. See `alignments`.
    """
    is_first = np.arange(outputs.shape[1]) == 0
    counts = (outputs != PAD) & ((outputs != END) | is_first)
    shares = (counts / counts.sum(axis=1, keepdims=True)).astype(np.float32)
    return np.einsum("nt,ntp->np", shares, alignments(model, inputs, outputs))


@jax.jit
def _alignments(
    model: Model, inputs: ModelInputs, outputs: Int[Array, "slots length"]
) -> Float[Array, "slots length positions"]:
    previous = jnp.pad(outputs, ((0, 0), (1, 0)))[:, :-1]

    def extend(state: Any, token: Array) -> tuple[Any, Array]:
        state, _ = model.step(state, token)
        return state, state.attention_weights

    start = init_decoder_state(model, inputs, outputs.shape[1])
    return jax.lax.scan(extend, start, previous.T)[1].swapaxes(0, 1)


def _in_batches(program: Callable[[Any], Array], rows: Any) -> NDArray[Any]:
    """Return a program's results for rows of integers, `SLOTS` at a time."""
    count = len(jax.tree.leaves(rows)[0])
    if count == 0:
        blank = jax.tree.map(lambda leaf: jnp.zeros((1, *leaf.shape[1:]), jnp.int32), rows)
        shape = jax.eval_shape(program, blank)
        return np.zeros((0, *shape.shape[1:]), shape.dtype)
    results = list[NDArray[Any]]()
    for first in range(0, count, SLOTS):
        # The last batch repeats the last row, so that all batches have one shape.
        numbers = np.minimum(np.arange(first, first + SLOTS), count - 1)
        batch = jax.tree.map(lambda leaf, at=numbers: jnp.asarray(leaf[at], jnp.int32), rows)
        results.append(np.asarray(program(batch))[: count - first])
    return np.concatenate(results)
