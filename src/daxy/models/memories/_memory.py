"""What a controller asks of a memory, and what memories of strengths have in common."""

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


class Memory(ABC):
    """Vectors that are put in and taken out at one or two ends, in parts.

    A step takes what the controller wants for each end, as numbers of any size, and a vector for
    it; it gives the vector that is read there.
    """

    name: ClassVar[str]
    ends: ClassVar[int]
    """Where something is put in, taken out and read."""
    sides: ClassVar[tuple[str, ...]] = ("",)
    """What the ends are called, where there are several."""
    wants: ClassVar[tuple[str, ...]]
    """What a controller says for each end."""
    keeps: ClassVar[bool] = False
    """Whether vectors stay as they were put in: see `known` in `step`."""

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
        known: tuple[Array, ...] | None = None,
    ) -> tuple[tuple[Array, ...], Float[Array, "batch ends width"]]:
        """Return the memory after step `time`, counted from 0, and what is read then.

        Where `is_step` is False, a row keeps what it has. Where a memory `keeps` its vectors and
        `known` is what it will be after the last step, the way back keeps nothing of the vectors at
        each step.
        """


class Kept(NamedTuple):
    """A memory of strengths: no vector ever changes, only how much of it is left."""

    sums: Strengths
    """Of the strengths from each slot to an end, which says more at once than each alone: no
    further sum is needed in a step."""
    vectors: Float[Array, "batch slots width"]


class StrengthMemory(Memory):
    """A memory after Grefenstette et al. (2015, section 3): pops, then pushes, then reads.

    What is wanted of an end becomes strengths between 0 and 1 by a sigmoid.
    """

    wants = ("pop", "push")
    keeps = True

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
        return jnp.einsum("bs,bsw->bw", self.strengths(kept.sums), kept.vectors)

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
        known: tuple[Array, ...] | None = None,
    ) -> tuple[Kept, Float[Array, "batch ends width"]]:
        """Return the memory after a step, and what is read then; see `Memory.step`."""
        pop, push = jnp.moveaxis(self.shares(wanted) * is_step[:, None, None], -1, 0)
        kept = self.put(Kept(*state), time, pop, push, values)
        last = kept if known is None else Kept(*known)
        return kept, _read(self.weights, kept.sums, kept.vectors, last.vectors)

    def put(
        self,
        state: Kept,
        time: Time,
        pop: EachEnd,
        push: EachEnd,
        values: Float[Array, "batch ends width"],
    ) -> Kept:
        """Return the memory after pops and pushes of these strengths, each between 0 and 1."""
        # What is between the sums before and after is made once more on the way back, not kept.
        moved = jax.checkpoint(self.moved, prevent_cse=False)
        sums, vectors = moved(state.sums, time, pop, push), state.vectors
        for end, place in enumerate(self.places(sums.shape[1], time)):
            vectors = _written(vectors, values[:, end], place)
        return Kept(sums, vectors)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _read(
    weigh: Callable[[Strengths], Float[Array, "batch ends slots"]],
    sums: Strengths,
    vectors: Float[Array, "batch slots width"],
    last: Float[Array, "batch slots width"],
) -> Float[Array, "batch ends width"]:
    """Return what is read of the vectors.

    Slots that are not used yet have no weight, so that the vectors of the `last` step, which are
    the same in all others, do for the way back: a scan need not keep those of each step. Nor the
    weights, which are made once more.
    """
    del last
    return _mixed(weigh(sums), vectors)


def _mixed(weights: Array, vectors: Array) -> Array:
    return jnp.einsum("bes,bsw->bew", weights, vectors)


def _read_forward(
    weigh: Callable[[Array], Array], sums: Array, vectors: Array, last: Array
) -> tuple[Array, tuple[Array, Array]]:
    return _read(weigh, sums, vectors, last), (sums, last)


def _read_backward(
    weigh: Callable[[Array], Array], kept: tuple[Array, Array], cotangent: Array
) -> tuple[Array, Array, None]:
    sums, last = kept
    weights, pull_back = jax.vjp(weigh, sums)
    (to_sums,) = pull_back(jnp.einsum("bew,bsw->bes", cotangent, last))
    return to_sums, jnp.einsum("bes,bew->bsw", weights, cotangent), None


_read.defvjp(_read_forward, _read_backward)


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
