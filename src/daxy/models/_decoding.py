"""Greedy decoding, written once against `start` and `step`.

A network has a number of slots; a slot whose sequence has ended is given the next source, so that
no sequence waits for the longest of its batch. All of it is one program: the replicas of a device
take turns, and a replica's sources are spread over the devices that have it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from jaxtyping import Array, Float, Int, Integer, Shaped
from numpy.typing import NDArray

from daxy.core.vocabulary import END, PAD
from daxy.models._model import Given, Model, begun, best

SLOTS = 256
"""Sequences that are extended together."""
FRESH = 64
"""Sources that are encoded together, when so many slots are free."""
ROOM = 1 << 16
"""Sources of each replica that a program decodes at most: their outputs are on the device."""


def greedy(model: Model, given: Given, limit: int) -> NDArray[np.uint16]:
    """Return one model's outputs, [count, limit] codes, as `greedy_replicas` does."""
    alone = jax.tree.map(lambda leaf: jnp.asarray(leaf, leaf.dtype)[None], model)
    here = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("replicas", "examples"))
    return greedy_replicas(alone, [given], limit, here)[0]


def greedy_of_length(
    model: Model, given: Given, lengths: Int[np.ndarray, " count"]
) -> NDArray[np.uint16]:
    """Return the best tokens, as many as `lengths` says, and PAD after them.

    END is never chosen; where a model would end, its second best token is taken. What knows a
    length in advance is an oracle: this is no way to score a model (Lake & Baroni 2018, note 6).

    Args:
        model: One model.
        given: What it is asked.
        lengths: How many tokens each output has.
    """
    limit = int(lengths.max(initial=0))

    def decode(rows: tuple[Given, Array]) -> Array:
        return _decode_of_length(model, *rows, limit)

    return _in_parts(decode, (given, lengths)).astype(np.uint16)


@partial(jax.jit, static_argnums=3)
def _decode_of_length(
    model: Model, given: Given, lengths: Int[Array, " slots"], limit: int
) -> Int[Array, "slots limit"]:
    def extend(carry: tuple[Any, Array], place: Array) -> tuple[tuple[Any, Array], Array]:
        state, logits = model.step(*carry)
        token = best(logits.at[:, END].set(-jnp.inf))
        return (state, token), jnp.where(place < lengths, token, PAD)

    first = jnp.full(len(lengths), PAD, jnp.int32)
    begin = begun(model, given, limit), first
    return jax.lax.scan(extend, begin, jnp.arange(limit, dtype=jnp.int32))[1].T


def last_states(model: Model, given: Given, limit: int) -> NDArray[np.float32]:
    """Return the decoder's top state after it has said END, or `limit` tokens: [count, hidden]."""

    def decode(given: Given) -> Array:
        return _last_states(model, given, limit)

    return _in_parts(decode, given)


@partial(jax.jit, static_argnums=2)
def _last_states(model: Model, given: Given, limit: int) -> Float[Array, "slots hidden"]:
    def extend(carry: tuple[Any, Array], _: None) -> tuple[tuple[Any, Array], tuple[Array, Array]]:
        state, logits = model.step(*carry)
        token = best(logits)
        return (state, token), (token == END, state.top)

    count = len(given.source)
    begin = begun(model, given, limit), jnp.full(count, PAD, jnp.int32)
    _, (ends, states) = jax.lax.scan(extend, begin, None, length=limit)
    last = jnp.where(ends.any(axis=0), ends.argmax(axis=0), limit - 1)
    return states[last, jnp.arange(count, dtype=jnp.int32)]


def alignments(
    model: Model, given: Given, said: Integer[np.ndarray, "count length"]
) -> NDArray[np.float32]:
    """Return how much a model attends to each place at each step: [count, length, places].

    Args:
        model: One whose states have `attended`.
        given: What it is asked.
        said: What it is to say, as codes with END; what stands at PAD means nothing.
    """

    def follow(rows: tuple[Given, Array]) -> Array:
        return _alignments(model, *rows)

    return _in_parts(follow, (given, said))


def attended(
    model: Model, given: Given, said: Integer[np.ndarray, "count length"]
) -> NDArray[np.float32]:
    """Return how much a model attends to each place while it says something: [count, places].

    The mean over the steps that say a token, END not among them; if there is none, that step. See
    `alignments`.
    """
    is_first = np.arange(said.shape[1]) == 0
    counts = (said != PAD) & ((said != END) | is_first)
    shares = (counts / counts.sum(axis=1, keepdims=True)).astype(np.float32)
    return np.einsum("nt,ntp->np", shares, alignments(model, given, said))


@jax.jit
def _alignments(
    model: Model, given: Given, said: Int[Array, "slots length"]
) -> Float[Array, "slots length places"]:
    previous = jnp.pad(said, ((0, 0), (1, 0)))[:, :-1]

    def extend(state: Any, token: Array) -> tuple[Any, Array]:
        state, _ = model.step(state, token)
        return state, state.attended

    begin = begun(model, given, said.shape[1])
    return jax.lax.scan(extend, begin, previous.T)[1].swapaxes(0, 1)


def _in_parts(decode: Callable[[Any], Array], rows: Any) -> NDArray[Any]:
    """Return what a program finds for rows of integers, as many at a time as there are slots."""
    count = len(jax.tree.leaves(rows)[0])
    if count == 0:
        blank = jax.tree.map(lambda each: jnp.zeros((1, *each.shape[1:]), jnp.int32), rows)
        shown = jax.eval_shape(decode, blank)
        return np.zeros((0, *shown.shape[1:]), shown.dtype)
    parts = list[NDArray[Any]]()
    for first in range(0, count, SLOTS):
        here = np.minimum(np.arange(first, first + SLOTS), count - 1)
        own = jax.tree.map(lambda each, here=here: jnp.asarray(each[here], jnp.int32), rows)
        parts.append(np.asarray(decode(own))[: count - first])
    return np.concatenate(parts)


def greedy_replicas(
    models: Model, given: Sequence[Given], limit: int, grid: Mesh
) -> list[NDArray[np.uint16]]:
    """Return the best token at each step until END, at most `limit` of them; PAD after that.

    PAD is never chosen: no target has it. The limit never comes from a target.

    Args:
        models: Models with a leading replica axis.
        given: What each replica is asked; all sources have one width.
        limit: The most tokens of an output; one that has as many has no END.
        grid: Devices; the replicas are spread over its first axis, a replica's sources over its
            second.

    Returns:
        Each replica's outputs: [count, limit] codes.
    """
    longest = max(len(own.source) for own in given)
    parts = [
        _greedy_replicas(models, [_slice(own, first) for own in given], limit, grid)
        for first in range(0, max(longest, 1), ROOM)
    ]
    return [np.concatenate(own) for own in zip(*parts, strict=True)]


def _slice(given: Given, first: int) -> Given:
    return jax.tree.map(lambda rows: np.asarray(rows)[first : first + ROOM], given)


def _greedy_replicas(
    models: Model, given: Sequence[Given], limit: int, grid: Mesh
) -> list[NDArray[np.uint16]]:
    """Return what `greedy_replicas` returns, all at once."""
    columns = grid.devices.shape[1]
    totals = [len(own.source) for own in given]
    counts = np.array([[len(range(n, own, columns)) for n in range(columns)] for own in totals])
    room = max(FRESH, 1 << int(counts.max() - 1).bit_length())  # few sizes, so few programs

    def spread(*every: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return one array of what is asked of each replica, by column; zeros where nothing is."""
        found = np.zeros((*counts.shape, room, *every[0].shape[1:]), every[0].dtype)
        for row, own in zip(found, every, strict=True):
            for first, place in enumerate(row):
                share = own[first::columns]
                place[: len(share)] = share
        return found

    asked = jax.tree.map(spread, *given)
    outputs = np.asarray(_decode(grid, limit, models, asked, counts.astype(np.int32)))
    whole = [np.zeros((own, limit), np.uint16) for own in totals]
    for outputs_of_row, own, count in zip(outputs, whole, counts, strict=True):
        for first in range(columns):
            own[first::columns] = outputs_of_row[first, : count[first]]
    return whole


@partial(jax.jit, static_argnums=(0, 1))
def _decode(
    grid: Mesh,
    limit: int,
    models: Model,
    asked: Given,
    counts: Int[Array, "replicas columns"],
) -> Int[Array, "replicas columns room limit"]:
    """Return the outputs for the first `counts` sources of each column of each replica.

    `asked` has axes for the replicas, the columns and their room before its own.
    """
    replicas, columns = grid.axis_names

    def share(models: Model, asked: Given, counts: Array) -> Array:
        def one(own: tuple[Model, Given, Array]) -> Array:
            return _decode_one(*own, limit)

        own = jax.tree.map(lambda leaf: leaf[:, 0], asked)
        return jax.lax.map(one, (models, own, counts[:, 0]))[:, None]

    spread = jax.shard_map(
        share,
        mesh=grid,
        in_specs=(P(replicas), P(replicas, columns), P(replicas, columns)),
        out_specs=P(replicas, columns),
        check_vma=False,
    )
    return spread(models, asked, counts)


class _Work(NamedTuple):
    """Where the decoding of one replica's sources stands."""

    next: Int[Array, ""]
    """The first source that is not in a slot and has not been."""
    held: Int[Array, " slots"]
    """The source in each slot; one past the last for none."""
    length: Int[Array, " slots"]
    previous: Int[Array, " slots"]
    state: Any
    outputs: Int[Array, "room limit"]


def _decode_one(model: Model, asked: Given, count: Array, limit: int) -> Array:
    """Return one model's outputs for the first `count` of what it is asked."""
    room = len(asked.source)
    slots = min(SLOTS, room)
    start = partial(begun, room=limit)
    shapes = jax.eval_shape(start, model, _rows(asked, jnp.arange(slots, dtype=jnp.int32)))
    nothing = jnp.zeros(slots, jnp.int32)
    begin = _Work(
        next=jnp.int32(0),
        held=nothing + room,
        length=nothing,
        previous=nothing,
        state=jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes),
        outputs=jnp.full((room, limit), PAD, jnp.int32),
    )
    extend = partial(_extend, model)

    def has_room(work: _Work) -> Array:
        return slots - _open(work) >= jnp.minimum(FRESH, count - work.next)

    def turn(work: _Work) -> _Work:
        work = _refill(model, asked, count, work)
        return jax.lax.while_loop(lambda w: (w.next < count) & ~has_room(w), extend, work)

    work = jax.lax.while_loop(lambda w: w.next < count, turn, begin)
    # All have begun. The longest are left, for which fewer and fewer slots are enough.
    for enough in (slots // 4, slots // 16):
        work = jax.lax.while_loop(lambda w, enough=enough: _open(w) > enough, extend, work)
        work = _gathered(work, enough)
    return jax.lax.while_loop(lambda w: _open(w) > 0, extend, work).outputs


def _open(work: _Work) -> Int[Array, ""]:
    """Return how many slots have a source."""
    return jnp.count_nonzero(work.held < len(work.outputs))


def _gathered(work: _Work, slots: int) -> _Work:
    """Return the same work in fewer slots, no fewer than are open."""
    room = len(work.outputs)
    (places,) = jnp.nonzero(work.held < room, size=slots, fill_value=0)
    held = jnp.where(jnp.arange(slots, dtype=jnp.int32) < _open(work), work.held[places], room)
    moved = jax.tree.map(lambda rows: rows[places], (work.length, work.previous, work.state))
    length, previous, state = moved
    return work._replace(held=held, length=length, previous=previous, state=state)


def _rows(asked: Given, rows: Int[Array, " rows"]) -> Given:
    return jax.tree.map(lambda leaf: leaf[rows].astype(jnp.int32), asked)


def _refill(model: Model, asked: Given, count: Array, work: _Work) -> _Work:
    """Encode the next sources and put them into free slots."""
    room, slots = len(asked.source), len(work.held)
    (places,) = jnp.nonzero(work.held == room, size=FRESH, fill_value=slots)
    numbers = work.next + jnp.arange(FRESH, dtype=jnp.int32)
    places = jnp.where(numbers < count, places, slots)
    limit = work.outputs.shape[1]
    states = begun(model, _rows(asked, jnp.minimum(numbers, room - 1)), limit)
    return work._replace(
        next=jnp.minimum(work.next + FRESH, count),
        held=work.held.at[places].set(numbers, mode="drop"),
        length=work.length.at[places].set(0, mode="drop"),
        previous=work.previous.at[places].set(PAD, mode="drop"),
        state=jax.tree.map(partial(_put, places), work.state, states),
    )


def _put(
    places: Int[Array, " fresh"],
    old: Shaped[Array, "slots *rest"],
    new: Shaped[Array, "fresh *rest"],
) -> Shaped[Array, "slots *rest"]:
    """Return the old rows with the new ones at their places; a place past the last is for nothing.

    Row after row: a scatter would work out the place of every single value.
    """

    def put(number: Array, rows: Array) -> Array:
        place = places[number]
        before = jax.lax.dynamic_index_in_dim(rows, place, keepdims=False)
        row = jnp.where(place < len(rows), new[number], before)
        return jax.lax.dynamic_update_index_in_dim(rows, row, place, 0)

    return jax.lax.fori_loop(0, len(places), put, old)


def _extend(model: Model, work: _Work) -> _Work:
    """Extend every slot by a token; empty those whose sequence has ended."""
    room, limit = work.outputs.shape
    state, logits = model.step(work.state, work.previous)
    token = best(logits)
    length = work.length + 1
    has_ended = (token == END) | (length >= limit)
    return work._replace(
        held=jnp.where(has_ended, room, work.held),
        length=length,
        previous=token,
        state=state,
        outputs=work.outputs.at[work.held, work.length].set(token, mode="drop"),
    )
