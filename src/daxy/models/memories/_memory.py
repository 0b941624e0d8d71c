"""What a controller asks of a memory, and what memories of strengths have in common.

Products with stored vectors ask for their full precision, as JAX lets recent GPUs round factors to
eleven bits by default, which would make reads wrong in the fourth digit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import ClassVar, NamedTuple, TypeAlias

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


class Kept(NamedTuple):
    """A memory of strengths: no vector ever changes, only how much of it is left."""

    sums: Strengths
    """Of the strengths from each slot to an end, which says more at once than each alone: no
    further sum is needed in a step."""
    vectors: Float[Array, "batch slots width"]


class Foreseen(NamedTuple):
    """What a memory of strengths comes to, known before the way back begins."""

    vectors: Float[Array, "batch width slots"]
    """After the last step. Slots that are not used yet have no weight, so that they do for all
    steps. Their numbers stand side by side as those of a product with them do."""
    weights: Float[Array, "slots batch slots"]
    """How much of each slot is read: by the read of each step at each end, in the place of the slot
    that it fills."""


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

    @abstractmethod
    def strengths(self, sums: Strengths) -> Strengths:
        """Return how much of each slot is left."""

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
        pop, push = jnp.moveaxis(self.shares(wanted) * is_step[:, None, None], -1, 0)
        # What is between the sums before and after is made once more on the way back, not kept.
        moved = jax.checkpoint(self.moved, prevent_cse=False)
        before = Kept(*state)
        sums = moved(before.sums, time, pop, push)
        if foreseen is None:
            vectors = self.put(before.vectors, time, values)
            return Kept(sums, vectors), _mixed(self.weights(sums), vectors)
        vectors, read = _put_and_read(
            self, sums, before.vectors, values, jnp.asarray(time), foreseen
        )
        return Kept(sums, vectors), read

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
        self, last: tuple[Array, ...], sums: Float[Array, "steps batch slots"]
    ) -> Foreseen:
        """Return what a memory comes to, of its last state and the sums after each step.

        There are as many steps as the memory has room for.
        """
        steps, batch, slots = sums.shape
        weights = jnp.zeros((slots, batch, slots))
        for end, places in enumerate(self.places(slots, jnp.arange(steps))):
            own = jax.vmap(self.weights)(sums)[:, :, end]
            weights = weights.at[:, :, places].set(jnp.moveaxis(own, 2, 0).swapaxes(1, 2))
        return Foreseen(Kept(*last).vectors.swapaxes(1, 2), weights)


def _put_then_read(
    memory: StrengthMemory,
    sums: Strengths,
    vectors: Float[Array, "batch slots width"],
    values: Float[Array, "batch ends width"],
    time: Int[Array, ""],
    foreseen: Foreseen,
) -> tuple[Float[Array, "batch slots width"], Float[Array, "batch ends width"]]:
    """Return the vectors with those that a step puts in, and what is read of them.

    What runs back along the vectors is no gradient of theirs, which would have to be changed in all
    slots at each step: it is what runs back along each later read, in the slot that its step fills.
    A value's gradient is the sum of those, each by how much it reads of the value. So nobody may
    use the vectors but the next step.
    """
    del foreseen
    vectors = memory.put(vectors, time, values)
    return vectors, _mixed(memory.weights(sums), vectors)


_put_and_read: Callable[..., tuple[Array, Array]]
_put_and_read = jax.custom_vjp(_put_then_read, nondiff_argnums=(0,))


def _put_and_read_forward(
    memory: StrengthMemory,
    sums: Array,
    vectors: Array,
    values: Array,
    time: Array,
    foreseen: Foreseen,
) -> tuple[tuple[Array, Array], tuple[Array, Array, Foreseen]]:
    after = _put_then_read(memory, sums, vectors, values, time, foreseen)
    return after, (sums, time, foreseen)


def _put_and_read_backward(
    memory: StrengthMemory, kept: tuple[Array, Array, Foreseen], cotangents: tuple[Array, Array]
) -> tuple[Array, Array, Array, None, None]:
    (sums, time, foreseen), (later, from_read) = kept, cotangents
    every = memory.put(later, time, from_read)
    places = memory.places(sums.shape[1], time)
    by_later = [jax.lax.dynamic_index_in_dim(foreseen.weights, n, keepdims=False) for n in places]
    _, pull_back = jax.vjp(memory.weights, sums)
    (to_sums,) = pull_back(_products("bew,bws->bes", from_read, foreseen.vectors))
    return to_sums, every, _mixed(jnp.stack(by_later, axis=1), every), None, None


_put_and_read.defvjp(_put_and_read_forward, _put_and_read_backward)  # pyright: ignore


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
