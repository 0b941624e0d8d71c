"""Greedy decoding of many sources by many replicas, as one program.

A network has a number of slots. When a sequence has ended, its slot takes the next source, so that
no sequence waits for the longest of its batch. The replicas of a device take turns, and a replica's
sources are spread over the devices that have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from jaxtyping import Array, Int, Shaped
from numpy.typing import NDArray

from daxy.core.vocabulary import END, PAD
from daxy.models.api import Model, ModelInputs, greedy_token, init_decoder_state

SLOTS = 256
"""Sequences that are extended together."""
FRESH = 64
"""Sources that are encoded together, when so many slots are free."""
SOURCES = 1 << 16
"""Sources of each replica that a program decodes at most: their outputs are on the device."""


def greedy(model: Model, inputs: ModelInputs, max_decode_length: int) -> NDArray[np.uint16]:
    """Return one model's outputs, [count, max_decode_length] codes, as `greedy_replicas` does."""
    replica = jax.tree.map(lambda leaf: jnp.asarray(leaf, leaf.dtype)[None], model)
    device = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("replicas", "examples"))
    return greedy_replicas(replica, [inputs], max_decode_length, device)[0]


def greedy_replicas(
    models: Model, inputs: Sequence[ModelInputs], max_decode_length: int, devices: Mesh
) -> list[NDArray[np.uint16]]:
    """Return the most likely token at each step until END; PAD after that, which is never chosen.

    Args:
        models: Models with a leading replica axis.
        inputs: The sources of each replica; all have one width.
        max_decode_length: Maximum tokens of an output; one that has as many has no END. It never
            comes from a target.
        devices: The replicas are spread over the first axis, a replica's sources over the second.

    Returns:
        Each replica's outputs: [count, max_decode_length] codes.
    """
    longest = max(len(own.source) for own in inputs)
    parts = [
        _greedy_replicas(models, [_slice(own, first) for own in inputs], max_decode_length, devices)
        for first in range(0, max(longest, 1), SOURCES)
    ]
    return [np.concatenate(own) for own in zip(*parts, strict=True)]


def _slice(inputs: ModelInputs, first: int) -> ModelInputs:
    return jax.tree.map(lambda rows: np.asarray(rows)[first : first + SOURCES], inputs)


def _greedy_replicas(
    models: Model, inputs: Sequence[ModelInputs], max_decode_length: int, devices: Mesh
) -> list[NDArray[np.uint16]]:
    """Return what `greedy_replicas` returns, of at most `SOURCES` sources."""
    columns = devices.devices.shape[1]
    totals = [len(own.source) for own in inputs]
    counts = np.array([[len(range(n, own, columns)) for n in range(columns)] for own in totals])
    room = max(FRESH, 1 << int(counts.max() - 1).bit_length())  # few sizes, so few programs

    def spread(*replicas: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return the rows of each replica, every nth in column n; zeros after the last."""
        spaced = np.zeros((*counts.shape, room, *replicas[0].shape[1:]), replicas[0].dtype)
        for of_replica, rows in zip(spaced, replicas, strict=True):
            for first, of_column in enumerate(of_replica):
                share = rows[first::columns]
                of_column[: len(share)] = share
        return spaced

    sources = jax.tree.map(spread, *inputs)
    counted = counts.astype(np.int32)
    outputs = np.asarray(_decode(devices, max_decode_length, models, sources, counted))
    joined = [np.zeros((total, max_decode_length), np.uint16) for total in totals]
    for of_replica, rows, count in zip(outputs, joined, counts, strict=True):
        for first in range(columns):
            rows[first::columns] = of_replica[first, : count[first]]
    return joined


@partial(jax.jit, static_argnums=(0, 1))
def _decode(
    devices: Mesh,
    max_decode_length: int,
    models: Model,
    inputs: ModelInputs,
    counts: Int[Array, "replicas columns"],
) -> Int[Array, "replicas columns room max_decode_length"]:
    """Return the outputs for the first `counts` sources of each column of each replica.

    `inputs` has axes for the replicas, the columns and their sources before its own.
    """
    replicas, columns = devices.axis_names

    def decode_share(models: Model, inputs: ModelInputs, counts: Array) -> Array:
        def decode(replica: tuple[Model, ModelInputs, Array]) -> Array:
            return _decode_replica(*replica, max_decode_length)

        own = jax.tree.map(lambda leaf: leaf[:, 0], inputs)
        return jax.lax.map(decode, (models, own, counts[:, 0]))[:, None]

    spread = jax.shard_map(
        decode_share,
        mesh=devices,
        in_specs=(P(replicas), P(replicas, columns), P(replicas, columns)),
        out_specs=P(replicas, columns),
        check_vma=False,
    )
    return spread(models, inputs, counts)


class _Progress(NamedTuple):
    """State of the decoding of one replica's sources."""

    next: Int[Array, ""]
    """The first source that no slot has had."""
    held: Int[Array, " slots"]
    """The source in each slot; one past the last for none."""
    length: Int[Array, " slots"]
    previous: Int[Array, " slots"]
    state: Any
    outputs: Int[Array, "room max_decode_length"]

    @property
    def busy(self) -> Int[Array, ""]:
        """Number of slots with a source."""
        return jnp.count_nonzero(self.held < len(self.outputs))


def _decode_replica(
    model: Model, inputs: ModelInputs, count: Array, max_decode_length: int
) -> Array:
    """Return one model's outputs for the first `count` sources."""
    progress = _empty_slots(model, inputs, max_decode_length)
    slots = len(progress.held)
    extend = partial(_extend, model)

    def can_refill(now: _Progress) -> Array:
        return slots - now.busy >= jnp.minimum(FRESH, count - now.next)

    def refill_and_extend(now: _Progress) -> _Progress:
        now = _refill(model, inputs, count, now)
        return jax.lax.while_loop(lambda p: (p.next < count) & ~can_refill(p), extend, now)

    progress = jax.lax.while_loop(lambda p: p.next < count, refill_and_extend, progress)
    # Every source has had a slot. The longest are left, for which fewer and fewer slots suffice.
    for enough in (slots // 4, slots // 16):
        progress = jax.lax.while_loop(lambda p, enough=enough: p.busy > enough, extend, progress)
        progress = _gather_busy(progress, enough)
    return jax.lax.while_loop(lambda p: p.busy > 0, extend, progress).outputs


def _empty_slots(model: Model, inputs: ModelInputs, max_decode_length: int) -> _Progress:
    room = len(inputs.source)
    slots = min(SLOTS, room)
    start = partial(init_decoder_state, max_length=max_decode_length)
    shapes = jax.eval_shape(start, model, _rows(inputs, jnp.arange(slots, dtype=jnp.int32)))
    zeros = jnp.zeros(slots, jnp.int32)
    return _Progress(
        next=jnp.int32(0),
        held=zeros + room,
        length=zeros,
        previous=zeros,
        state=jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes),
        outputs=jnp.full((room, max_decode_length), PAD, jnp.int32),
    )


def _gather_busy(progress: _Progress, slots: int) -> _Progress:
    """Return the same state in fewer slots, no fewer than are busy."""
    room = len(progress.outputs)
    (busy,) = jnp.nonzero(progress.held < room, size=slots, fill_value=0)
    is_busy = jnp.arange(slots, dtype=jnp.int32) < progress.busy
    moved = progress.length, progress.previous, progress.state
    length, previous, state = jax.tree.map(lambda rows: rows[busy], moved)
    held = jnp.where(is_busy, progress.held[busy], room)
    return progress._replace(held=held, length=length, previous=previous, state=state)


def _rows(inputs: ModelInputs, rows: Int[Array, " rows"]) -> ModelInputs:
    return jax.tree.map(lambda leaf: leaf[rows].astype(jnp.int32), inputs)


def _refill(model: Model, inputs: ModelInputs, count: Array, progress: _Progress) -> _Progress:
    """Encode the next sources and put them into free slots."""
    room, slots = len(inputs.source), len(progress.held)
    (free,) = jnp.nonzero(progress.held == room, size=FRESH, fill_value=slots)
    numbers = progress.next + jnp.arange(FRESH, dtype=jnp.int32)
    free = jnp.where(numbers < count, free, slots)
    max_decode_length = progress.outputs.shape[1]
    rows = _rows(inputs, jnp.minimum(numbers, room - 1))
    states = init_decoder_state(model, rows, max_decode_length)
    return progress._replace(
        next=jnp.minimum(progress.next + FRESH, count),
        held=progress.held.at[free].set(numbers, mode="drop"),
        length=progress.length.at[free].set(0, mode="drop"),
        previous=progress.previous.at[free].set(PAD, mode="drop"),
        state=jax.tree.map(partial(_put, free), progress.state, states),
    )


def _put(
    slots: Int[Array, " fresh"],
    old: Shaped[Array, "slots *rest"],
    new: Shaped[Array, "fresh *rest"],
) -> Shaped[Array, "slots *rest"]:
    """Return the old rows with new ones in some slots; one for a slot past the last is dropped.

    Row after row: a scatter would compute the index of every single value.
    """

    def put(number: Array, rows: Array) -> Array:
        slot = slots[number]
        before = jax.lax.dynamic_index_in_dim(rows, slot, keepdims=False)
        row = jnp.where(slot < len(rows), new[number], before)
        return jax.lax.dynamic_update_index_in_dim(rows, row, slot, 0)

    return jax.lax.fori_loop(0, len(slots), put, old)


def _extend(model: Model, progress: _Progress) -> _Progress:
    """Extend every slot by a token; empty those whose sequence has ended."""
    room, max_decode_length = progress.outputs.shape
    state, logits = model.step(progress.state, progress.previous)
    token = greedy_token(logits)
    length = progress.length + 1
    has_ended = (token == END) | (length >= max_decode_length)
    outputs = progress.outputs.at[progress.held, progress.length].set(token, mode="drop")
    return progress._replace(
        held=jnp.where(has_ended, room, progress.held),
        length=length,
        previous=token,
        state=state,
        outputs=outputs,
    )
