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
    """What a controller says for each end; `pop` begins held back (`--pop-bias`)."""

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
        strengths spares the way back from the vectors of each step; all rows have one time then.
        """

    def begun(self, state: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return what has to be kept of a memory to have it again before each of some steps."""
        return state

    def again(self, begun: tuple[Array, ...], moves: Moves) -> tuple[Any, Any]:
        """Return what was kept as it is after some steps, and before each of them, time first."""

        def step(state: tuple[Array, ...], here: Moves) -> tuple[Any, Any]:
            return self.step(state, *here)[0], state

        return jax.lax.scan(step, begun, moves)


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


class Foreseen(NamedTuple):
    """What a memory of strengths comes to, and what some steps do, known before the way back.

    A push and a read of these steps have a number each: at end e of step t, t * ends + e.
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
    first: Int[Array, ""]
    """The time of the first of these steps."""

    def nothing_handed_on(self) -> Float[Array, "batch reads width"]:
        """Return what runs back through these steps before any of them is gone back through."""
        (batch, reads, _), width = self.reads.shape, self.vectors.shape[1]
        return jnp.zeros((batch, reads, width))

    def gathered(
        self, handed_on: Float[Array, "batch reads width"]
    ) -> Float[Array, "batch slots width"]:
        """Return the gradient of the vectors, of what ran back through all of these steps."""
        return self.later + _products("brs,brw->bsw", self.reads, handed_on)


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
        return Kept(jnp.zeros((batch, slots)), jnp.zeros((batch, slots, width)))

    def step(
        self,
        state: tuple[Array, ...],
        time: Time,
        is_step: Bool[Array, " batch"],
        wanted: Float[Array, "batch ends wants"],
        values: Float[Array, "batch ends width"],
        foreseen: Foreseen | None = None,
    ) -> tuple[Kept, Float[Array, "batch ends width"]]:
        """Return the memory after a step, and what is read then; see `Memory.step`."""
        before = Kept(*state)
        # What is between the sums before and after is made once more on the way back, not kept.
        moved = jax.checkpoint(self._sums_after, prevent_cse=False)
        sums = moved(before.sums, time, is_step, wanted)
        if foreseen is None:
            vectors = self.put(before.vectors, time, values)
            return Kept(sums, vectors), _mixed(self.weights(sums), vectors)
        vectors, read = _foreseen_read(
            self, sums, before.vectors, values, jnp.asarray(time), foreseen
        )
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

    def begun(self, state: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the sums: no vectors are needed to have them again."""
        return state[:1]

    def again(self, begun: tuple[Array, ...], moves: Moves) -> tuple[Any, Any]:
        """Return the sums after some steps, and before each of them."""

        def step(sums: Strengths, here: Moves) -> tuple[Strengths, Strengths]:
            return self._sums_after(sums, here.time, here.is_step, here.wanted), sums

        after, before = jax.lax.scan(step, begun[0], moves)
        return (after,), (before,)

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

    def foreseen(
        self,
        vectors: Float[Array, "batch slots width"],
        sums: Float[Array, "steps batch slots"],
        later: Float[Array, "batch slots width"],
        first: Int[Array, ""],
    ) -> Foreseen:
        """Return what a memory comes to of its last vectors, and of the sums after some steps.

        Of the gradient of the vectors in the steps after these, too, and of when these begin.
        """
        steps, batch, slots = sums.shape
        weights = jnp.moveaxis(jax.vmap(self.weights)(sums), 1, 0)
        reads = weights.reshape(batch, steps * self.ends, slots)
        places = jnp.stack(self.places(slots, first + jnp.arange(steps)), axis=1).ravel()
        shares = jnp.moveaxis(reads[:, :, places], 2, 0)
        return Foreseen(vectors.swapaxes(1, 2), reads, shares, later, first)


def _read_of_last(
    memory: StrengthMemory,
    sums: Strengths,
    handed_on: Float[Array, "batch reads width"],
    values: Float[Array, "batch ends width"],
    time: Int[Array, ""],
    foreseen: Foreseen,
) -> tuple[Float[Array, "batch reads width"], Float[Array, "batch ends width"]]:
    """Return what is read in a step of which all is foreseen.

    What runs back along `handed_on`, of which nothing is looked at, are the gradients of reads.
    That of the vectors would have to be changed in all slots at each step; a value's is a sum of
    those of its reads, each by how much it takes of the value.
    """
    del values, time
    weights = memory.weights(sums)
    return handed_on, _products("bes,bws->bew", weights, foreseen.vectors)


_foreseen_read: Callable[..., tuple[Array, Array]]
_foreseen_read = jax.custom_vjp(_read_of_last, nondiff_argnums=(0,))


def _foreseen_read_forward(
    memory: StrengthMemory,
    sums: Array,
    handed_on: Array,
    values: Array,
    time: Array,
    foreseen: Foreseen,
) -> tuple[tuple[Array, Array], tuple[Array, Array, Foreseen]]:
    after = _read_of_last(memory, sums, handed_on, values, time, foreseen)
    return after, (sums, time, foreseen)


def _foreseen_read_backward(
    memory: StrengthMemory, kept: tuple[Array, Array, Foreseen], cotangents: tuple[Array, Array]
) -> tuple[Array, Array, Array, None, None]:
    (sums, time, foreseen), (handed_on, from_read) = kept, cotangents
    own = (time - foreseen.first) * memory.ends
    handed_on = jax.lax.dynamic_update_slice_in_dim(handed_on, from_read, own, axis=1)
    shares = jax.lax.dynamic_slice_in_dim(foreseen.shares, own, memory.ends)
    places = memory.places(sums.shape[1], time)
    later = [jax.lax.dynamic_index_in_dim(foreseen.later, n, 1, keepdims=False) for n in places]
    to_values = jnp.stack(later, axis=1) + _products("ebr,brw->bew", shares, handed_on)
    _, pull_back = jax.vjp(memory.weights, sums)
    (to_sums,) = pull_back(_products("bew,bws->bes", from_read, foreseen.vectors))
    return to_sums, handed_on, to_values, None, None


_foreseen_read.defvjp(_foreseen_read_forward, _foreseen_read_backward)  # pyright: ignore


def _mixed(
    weights: Float[Array, "batch ends slots"], vectors: Float[Array, "batch slots width"]
) -> Float[Array, "batch ends width"]:
    return _products("bes,bsw->bew", weights, vectors)


def _written(
    vectors: Float[Array, "batch slots width"], value: Float[Array, "batch width"], place: Time
) -> Float[Array, "batch slots width"]:
    """Return the vectors with one in a slot, the same in all rows or one of its own in each."""
    if jnp.ndim(place) == 0:
        return jax.lax.dynamic_update_index_in_dim(vectors, value, place, 1)
    is_place = jnp.arange(vectors.shape[1]) == jnp.asarray(place)[:, None]
    return jnp.where(is_place[..., None], value[:, None], vectors)


def column(time: Time) -> Int[Array, "_ 1"]:
    """Return a time, or the times of rows, to compare with all slots."""
    return jnp.reshape(jnp.asarray(time), (-1, 1))


def after(sums: Strengths) -> Strengths:
    """Return each slot's next slot's sum, 0 after the last."""
    return jnp.pad(sums[:, 1:], ((0, 0), (0, 1)))


def topmost(sums: Strengths) -> Strengths:
    """Return how much of each slot is among the topmost 1, given the sums from it to the top."""
    return jnp.minimum(sums, 1) - jnp.minimum(after(sums), 1)


def before(sums: Strengths) -> Strengths:
    """Return each slot's previous slot's sum, 0 before the first."""
    return jnp.pad(sums[:, :-1], ((0, 0), (1, 0)))
