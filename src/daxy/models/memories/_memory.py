"""What a controller asks of a memory, and what memories of strengths have in common.

Products with stored vectors ask for their full precision, as JAX lets recent GPUs round factors to
eleven bits by default, which would make reads wrong in the fourth digit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

Time: TypeAlias = Int[Array, ""] | Int[Array, " batch"] | int
"""Steps before this one: of all rows, or of each."""
Strengths: TypeAlias = Float[Array, "batch slots"]
EachEnd: TypeAlias = Float[Array, "batch ends"]

_products = partial(jnp.einsum, precision=jax.lax.Precision.HIGHEST)


class Memory(ABC):
    """Vectors that are put in and taken out at one or two ends, in parts.

    A step takes what the controller wants for each end, as numbers of any size, and a vector for
    it; it gives the vector that is read there.
    """

    name: ClassVar[str]
    ends: ClassVar[int]
    """Where something is put in, taken out and read."""
    sides: ClassVar[tuple[str, ...]] = ("",)
    """What the ends are called, where there are several; how pushes begin at one that is called
    `bottom` can be chosen (`--bottom-push-bias`)."""
    wants: ClassVar[tuple[str, ...]]
    """What a controller says for each end; `pop` begins held back (`--pop-bias`), and how `push`
    begins can be chosen (`--push-bias`)."""

    @abstractmethod
    def start(self, batch: int, steps: int, width: int) -> tuple[Array, ...]:
        """Return an empty memory, for at most so many steps."""

    @abstractmethod
    def shares(self, wanted: Float[Array, "batch ends wants"]) -> Float[Array, "batch ends wants"]:
        """Return how much of each operation is done: numbers between 0 and 1."""

    @abstractmethod
    def held(self, state: tuple[Array, ...]) -> Float[Array, "batch width"]:
        """Return the sum of all that is in a memory, each vector as far as it is there."""

    @abstractmethod
    def step(
        self,
        state: tuple[Array, ...],
        time: Time,
        is_step: Bool[Array, " batch"],
        wanted: Float[Array, "batch ends wants"],
        values: Float[Array, "batch ends width"],
        foreseen: Foreseen | None = None,
    ) -> tuple[tuple[Array, ...], Float[Array, "batch ends width"]]:
        """Return the memory after step `time`, counted from 0, and what is read then.

        Where `is_step` is False, a row keeps what it has. What is `foreseen` of a memory of
        strengths spares the way back from the vectors of each step: all rows have one time then,
        and the state is `HandedOn`.
        """

    def kept_at_start(self, state: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return what has to be kept of a memory to have it again before each of some steps."""
        return state

    def foresee(
        self,
        at_start: tuple[Array, ...],
        moves: Moves,
        last: tuple[Array, ...],  # noqa: ARG002 - for those that can do with it
        later: tuple[Array, ...],  # noqa: ARG002
    ) -> tuple[Any, Foreseen | None]:
        """Return a memory before each of some steps, time first, and what can be foreseen of them.

        Args:
            at_start: What was kept of it before the first of them.
            moves: What it is given at each.
            last: The memory after the last of all steps.
            later: The gradient of the memory after these.
        """

        def step(state: tuple[Array, ...], here: Moves) -> tuple[Any, Any]:
            return self.step(state, *here)[0], state

        return jax.lax.scan(step, at_start, moves)[1], None


class Moves(NamedTuple):
    """What a memory is given at some steps one after the other; all rows have one time."""

    time: Int[Array, " steps"]
    is_step: Bool[Array, "steps batch"]
    wanted: Float[Array, "steps batch ends wants"]
    values: Float[Array, "steps batch ends width"]


class Kept(NamedTuple):
    """A memory of strengths: no vector ever changes, only how much of it is left."""

    sums: Strengths
    """Of the strengths from each slot to an end, which says more at once than each alone: no
    further sum is needed in a step."""
    vectors: Float[Array, "batch slots width"]


class HandedOn(NamedTuple):
    """A memory of strengths on the way back through steps of which all is foreseen.

    The gradient of its vectors would change in all slots at each step. In its place the gradients
    of reads are handed on: a value's is the sum of those of its later reads, each times how much it
    takes of the value.
    """

    sums: Strengths
    reads: Float[Array, "batch reads width"]


class Foreseen(NamedTuple):
    """What a memory of strengths comes to, and what some steps do, before the way back.

    Pushes and reads of these steps are numbered: at end e of step t, t * ends + e.
    """

    vectors: Float[Array, "batch width slots"]
    """After the last of all steps. Slots that are not used yet have no weight, so that they do for
    each step. Their numbers stand side by side as those of a product with them do."""
    reads: Float[Array, "batch reads slots"]
    """How much of each slot each read takes."""
    shares: Float[Array, "pushes batch reads"]
    """How much each read takes of the slot of each push."""
    later: Float[Array, "batch slots width"]
    """The gradient of the vectors that the steps after these have read."""
    places: Int[Array, " pushes"]
    """The slot of each push."""
    first: Int[Array, ""]
    """The time of the first of these steps."""

    def entering(self, sums: Strengths) -> HandedOn:
        """Return a memory, or its gradient, before any read's gradient is handed on."""
        (batch, reads, _), width = self.reads.shape, self.vectors.shape[1]
        return HandedOn(sums, jnp.zeros((batch, reads, width), self.vectors.dtype))

    def leaving(self, earlier: HandedOn) -> Kept:
        """Return the gradient of the memory before these steps, once all reads' are handed on.

        No step before these reads what is in the slots that these fill.
        """
        vectors = self.later + _products("brs,brw->bsw", self.reads, earlier.reads)
        return Kept(earlier.sums, vectors.at[:, self.places].set(0))


class StrengthMemory(Memory):
    """A memory after Grefenstette et al. (2015, section 3): pops, then pushes, then reads.

    What is wanted of an end becomes strengths between 0 and 1 by a sigmoid.
    """

    wants = ("pop", "push")

    def slots(self, steps: int) -> int:
        """Return how many slots so many steps need: one each, unless there are more ends."""
        return steps

    def places(self, slots: int, time: Time) -> list[Time]:
        """Return the slot that a step puts each end's vector in: one after another for one end."""
        del slots
        return [time]

    @abstractmethod
    def moved(self, sums: Strengths, time: Time, pop: EachEnd, push: EachEnd) -> Strengths:
        """Return the sums of strengths after a step's pops and pushes."""

    @abstractmethod
    def weights(self, sums: Strengths) -> Float[Array, "batch ends slots"]:
        """Return how much of each slot's vector each end reads: all together at most 1."""

    def strengths(self, sums: Strengths) -> Strengths:
        """Return how much of each slot is left, of sums from each to the last."""
        return sums - after(sums)

    def shares(self, wanted: Float[Array, "batch ends wants"]) -> Float[Array, "batch ends wants"]:
        """Return strengths of pops and pushes."""
        return jax.nn.sigmoid(wanted)

    def held(self, state: tuple[Array, ...]) -> Float[Array, "batch width"]:
        """Return the sum of all vectors by their strengths."""
        kept = Kept(*state)
        return _products("bs,bsw->bw", self.strengths(kept.sums), kept.vectors)

    def start(self, batch: int, steps: int, width: int) -> Kept:
        """Return an empty memory, for at most so many steps."""
        slots = self.slots(steps)
        # JAX's float, which `daxy.training.backend` pins to 32 bits: tests compute with 64.
        return Kept(jnp.zeros((batch, slots), float), jnp.zeros((batch, slots, width), float))

    def step(
        self,
        state: tuple[Array, ...],
        time: Time,
        is_step: Bool[Array, " batch"],
        wanted: Float[Array, "batch ends wants"],
        values: Float[Array, "batch ends width"],
        foreseen: Foreseen | None = None,
    ) -> tuple[Kept | HandedOn, Float[Array, "batch ends width"]]:
        """Return the memory after a step, and what is read then; see `Memory.step`."""
        sums = self._sums_after(state[0], time, is_step, wanted)
        if foreseen is not None:
            return _handed_on(self, sums, HandedOn(*state).reads, values, time, foreseen)
        vectors = self.put(Kept(*state).vectors, time, values)
        read = _products("bes,bsw->bew", self.weights(sums), vectors)
        return Kept(sums, vectors), read

    def _sums_after(
        self,
        sums: Strengths,
        time: Time,
        is_step: Bool[Array, " batch"],
        wanted: Float[Array, "batch ends wants"],
    ) -> Strengths:
        """Return the sums of strengths after a step."""
        pop, push = jnp.moveaxis(self.shares(wanted) * is_step[:, None, None], -1, 0)
        return self.moved(sums, time, pop, push)

    def kept_at_start(self, state: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the sums: no vectors are needed to have them again."""
        return state[:1]

    def foresee(
        self,
        at_start: tuple[Array, ...],
        moves: Moves,
        last: tuple[Array, ...],
        later: tuple[Array, ...],
    ) -> tuple[tuple[Array, ...], Foreseen]:
        """Return the sums before each of some steps, and what is foreseen; see `Memory.foresee`."""

        def step(sums: Strengths, here: Moves) -> tuple[Strengths, tuple[Strengths, Strengths]]:
            moved = self._sums_after(sums, here.time, here.is_step, here.wanted)
            return moved, (sums, moved)

        _, (sums, moved) = jax.lax.scan(step, at_start[0], moves)
        steps, batch, slots = moved.shape
        weights = jnp.moveaxis(jax.vmap(self.weights)(moved), 1, 0)
        reads = weights.reshape(batch, steps * self.ends, slots)
        places = jnp.stack(self.places(slots, moves.time), axis=1).ravel()
        shares = jnp.moveaxis(reads[:, :, places], 2, 0)
        vectors = Kept(*last).vectors.swapaxes(1, 2)
        gradient = Kept(*later).vectors
        return (sums,), Foreseen(vectors, reads, shares, gradient, places, moves.time[0])

    def put(
        self,
        vectors: Float[Array, "batch slots width"],
        time: Time,
        values: Float[Array, "batch ends width"],
    ) -> Float[Array, "batch slots width"]:
        """Return the vectors with those that a step puts in."""
        for end, place in enumerate(self.places(vectors.shape[1], time)):
            vectors = _written(vectors, values[:, end], place)
        return vectors


def _handed_on(
    memory: StrengthMemory,
    sums: Strengths,
    reads: Float[Array, "batch reads width"],
    values: Float[Array, "batch ends width"],
    time: Time,
    foreseen: Foreseen,
) -> tuple[HandedOn, Float[Array, "batch ends width"]]:
    """Return the memory after a step of which all is foreseen, and what is read then."""
    reads, read = _foreseen_read(
        memory, sums, reads, values, jnp.asarray(time, jnp.int32), foreseen
    )
    return HandedOn(sums, reads), read


def _read_of_last(
    memory: StrengthMemory,
    sums: Strengths,
    reads: Float[Array, "batch reads width"],
    values: Float[Array, "batch ends width"],
    time: Int[Array, ""],
    foreseen: Foreseen,
) -> tuple[Float[Array, "batch reads width"], Float[Array, "batch ends width"]]:
    """Return `reads` as they are, whose gradients are handed on along them, and what is read."""
    del values, time
    return reads, _products("bes,bws->bew", memory.weights(sums), foreseen.vectors)


_foreseen_read: Callable[..., tuple[Array, Array]]
_foreseen_read = jax.custom_vjp(_read_of_last, nondiff_argnums=(0,))


def _foreseen_read_forward(
    memory: StrengthMemory,
    sums: Array,
    reads: Array,
    values: Array,
    time: Array,
    foreseen: Foreseen,
) -> tuple[tuple[Array, Array], tuple[Array, Array, Foreseen]]:
    found = _read_of_last(memory, sums, reads, values, time, foreseen)
    return found, (sums, time, foreseen)


def _foreseen_read_backward(
    memory: StrengthMemory, kept: tuple[Array, Array, Foreseen], cotangents: tuple[Array, Array]
) -> tuple[Array, Array, Array, None, None]:
    (sums, time, foreseen), (reads, from_read) = kept, cotangents
    own = (time - foreseen.first) * memory.ends
    reads = jax.lax.dynamic_update_slice_in_dim(reads, from_read, own, axis=1)
    shares = jax.lax.dynamic_slice_in_dim(foreseen.shares, own, memory.ends)
    places = memory.places(sums.shape[1], time)
    later = [jax.lax.dynamic_index_in_dim(foreseen.later, n, 1, keepdims=False) for n in places]
    to_values = jnp.stack(later, axis=1) + _products("ebr,brw->bew", shares, reads)
    _, pull_back = jax.vjp(memory.weights, sums)
    (to_sums,) = pull_back(_products("bew,bws->bes", from_read, foreseen.vectors))
    return to_sums, reads, to_values, None, None


_foreseen_read.defvjp(_foreseen_read_forward, _foreseen_read_backward)  # pyright: ignore


def _written(
    vectors: Float[Array, "batch slots width"], value: Float[Array, "batch width"], place: Time
) -> Float[Array, "batch slots width"]:
    """Return the vectors with one in a slot, the same in all rows or one of its own in each."""
    if jnp.ndim(place) == 0:
        return jax.lax.dynamic_update_index_in_dim(vectors, value, place, 1)
    is_place = (
        jnp.arange(vectors.shape[1], dtype=jnp.int32) == jnp.asarray(place, jnp.int32)[:, None]
    )
    return jnp.where(is_place[..., None], value[:, None], vectors)


def column(time: Time) -> Int[Array, "_ 1"]:
    """Return a time, or the times of rows, to compare with all slots."""
    return jnp.reshape(jnp.asarray(time, jnp.int32), (-1, 1))


def after(sums: Strengths) -> Strengths:
    """Return each slot's next slot's sum, 0 after the last."""
    return jnp.pad(sums[:, 1:], ((0, 0), (0, 1)))


def topmost(sums: Strengths) -> Strengths:
    """Return how much of each slot is among the topmost 1, given the sums from it to the top."""
    return jnp.minimum(sums, 1) - jnp.minimum(after(sums), 1)


def before(sums: Strengths) -> Strengths:
    """Return each slot's previous slot's sum, 0 before the first."""
    return jnp.pad(sums[:, :-1], ((0, 0), (1, 0)))
