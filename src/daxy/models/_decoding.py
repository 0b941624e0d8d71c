"""Greedy decoding, written once against `start` and `step`.

Replicas decode side by side, each its own sources. A replica has a number of slots; a slot whose
sequence has ended is given the next source, so that no sequence waits for the longest of its batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Integer
from numpy.typing import NDArray

from daxy.core.vocabulary import END, PAD
from daxy.models._model import Model

Codes: TypeAlias = Integer[Array, "_ width"] | Integer[np.ndarray, "_ width"]

SLOTS = 256
"""Sequences of a replica that are extended together."""
FRESH = 64
"""Sources that are encoded together, when so many slots are free."""
STRETCH = 5
"""Tokens that every slot is extended by between two looks at which have ended."""


def greedy(model: Model, sources: Codes, limit: int) -> NDArray[np.uint16]:
    """Return one model's outputs, [count, limit] codes, as `greedy_replicas` does."""
    alone = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], model)
    return greedy_replicas(alone, [sources], limit)[0]


def greedy_replicas(
    models: Model, sources: Sequence[Codes], limit: int
) -> list[NDArray[np.uint16]]:
    """Return the best token at each step until END, at most `limit` of them; PAD after that.

    PAD is never chosen: no target has it. The limit never comes from a target.

    Args:
        models: Models with a leading replica axis.
        sources: Each replica's own sources as codes: [count, width], one width for all.
        limit: The most tokens of an output, END included.

    Returns:
        Each replica's outputs: [count, limit] codes.
    """
    work = [_Work(own, limit) for own in sources]
    slots = _empty(models, len(work), sources[0].shape[1])
    while any(not each.is_done for each in work):
        while any(each.wants for each in work):
            fresh = [each.take() for each in work]
            places, codes = (np.stack(column) for column in zip(*fresh, strict=True))
            slots = _refill(models, slots, codes, places)
        slots, tokens = _extend(models, slots)
        for each, found in zip(work, np.asarray(tokens), strict=True):
            each.put(found)
    return [each.outputs for each in work]


class _Slots(NamedTuple):
    """What the device holds of every slot of one replica, or of all with a leading axis."""

    state: Any
    previous: Int[Array, " slots"]
    ended: Bool[Array, " slots"]


class _Work:
    """Which of one replica's sources wait, are in a slot, or are done."""

    def __init__(self, sources: Codes, limit: int) -> None:
        self.outputs = np.zeros((len(sources), limit), np.uint16)
        self._sources = np.asarray(sources)
        self._next = 0
        self._held = np.full(SLOTS, -1)
        """The source in each slot; -1 for none."""
        self._lengths = np.zeros(SLOTS, np.int64)

    @property
    def wants(self) -> bool:
        """Whether enough slots are free for the next sources."""
        waiting = len(self._sources) - self._next
        return 0 < min(FRESH, waiting) <= int(np.count_nonzero(self._held < 0))

    @property
    def is_done(self) -> bool:
        return self._next == len(self._sources) and bool((self._held < 0).all())

    def take(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return free slots and the next sources for them; a slot past the last is for nothing."""
        count = min(FRESH, len(self._sources) - self._next) if self.wants else 0
        places = np.full(FRESH, SLOTS, np.int32)
        codes = np.full((FRESH, self._sources.shape[1]), END, np.int32)
        places[:count] = np.flatnonzero(self._held < 0)[:count]
        codes[:count] = self._sources[self._next : self._next + count]
        self._held[places[:count]] = np.arange(self._next, self._next + count)
        self._lengths[places[:count]] = 0
        self._next += count
        return places, codes

    def put(self, tokens: NDArray[np.int32]) -> None:
        """Write down what [stretch, slots] tokens say of the held sources; free what has ended."""
        busy = np.flatnonzero(self._held >= 0)
        limit = self.outputs.shape[1]
        for offset, row in enumerate(tokens):
            here = self._lengths[busy] + offset
            open_ = here < limit
            self.outputs[self._held[busy[open_]], here[open_]] = row[busy[open_]]
        self._lengths[busy] += len(tokens)
        ended = (tokens[:, busy] == END).any(axis=0) | (self._lengths[busy] >= limit)
        self._held[busy[ended]] = -1


def _empty(models: Model, replicas: int, width: int) -> _Slots:
    """Return slots that hold nothing; their state has the shapes of what `start` returns."""
    codes = jax.ShapeDtypeStruct((replicas, SLOTS, width), jnp.int32)
    shapes = jax.eval_shape(jax.vmap(lambda model, source: model.start(source)), models, codes)
    state = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    shape = (replicas, SLOTS)
    return _Slots(state, jnp.full(shape, PAD, jnp.int32), jnp.ones(shape, bool))


@partial(jax.jit, donate_argnums=1)
def _refill(models: Model, slots: _Slots, codes: Array, places: Array) -> _Slots:
    """Put freshly encoded sources into these slots of each replica."""

    def one(model: Model, slots: _Slots, codes: Array, places: Array) -> _Slots:
        fresh = _Slots(
            model.start(codes), jnp.full(len(codes), PAD, jnp.int32), jnp.zeros(len(codes), bool)
        )
        return jax.tree.map(lambda old, new: old.at[places].set(new, mode="drop"), slots, fresh)

    return jax.vmap(one)(models, slots, codes, places)


@partial(jax.jit, donate_argnums=1)
def _extend(models: Model, slots: _Slots) -> tuple[_Slots, Int[Array, "replicas stretch slots"]]:
    """Extend every slot of each replica by a stretch; ended ones by PAD."""

    def one(model: Model, slots: _Slots) -> tuple[_Slots, Array]:
        def step(slots: _Slots, _: None) -> tuple[_Slots, Array]:
            state, logits = model.step(slots.state, slots.previous)
            best = jnp.argmax(logits.at[:, PAD].set(-jnp.inf), axis=-1).astype(jnp.int32)
            token = jnp.where(slots.ended, PAD, best)
            return _Slots(state, token, slots.ended | (token == END)), token

        return jax.lax.scan(step, slots, length=STRETCH)

    return jax.vmap(one)(models, slots)
