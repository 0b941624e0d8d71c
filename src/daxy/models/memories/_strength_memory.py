"""Memories of slots with strengths (Grefenstette et al. 2015, section 3).

A step pops, then pushes, then reads. Slot i has a vector V[i], which never changes once it is
pushed (equations 1 and 6), and a strength s[i]. The code stores sums of strengths from each slot to
an end, in which the papers' recursions need no further sum.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from daxy.kernels.memory_reads import Sums, Time, exact_einsum
from daxy.models.memories._memory import Memory

EachEnd: TypeAlias = Float[Array, "batch ends"]


class SlotState(NamedTuple):
    """The slots of a memory."""

    sums: Sums
    vectors: Float[Array, "batch slots width"]


class StrengthMemory(Memory):
    """Slots with strengths; the probabilities of pops and pushes are sigmoids of their logits."""

    actions = ("pop", "push")

    @abstractmethod
    def update_sums(self, sums: Sums, time: Time, pop: EachEnd, push: EachEnd) -> Sums:
        """Return the sums of strengths after pops and pushes of these strengths."""

    @abstractmethod
    def read_weights(self, sums: Sums) -> Float[Array, "batch ends slots"]:
        """Return the weight of each slot's vector in the read of each end; at most 1 in all."""

    def strengths(self, sums: Sums) -> Sums:
        """Return the strength of each slot, of sums up to the last slot."""
        return sums - next_slot(sums)

    def slots(self, steps: int) -> int:
        """Return how many slots so many steps fill."""
        return steps

    def slots_written(self, slots: int, time: Time) -> list[Time]:
        """Return the slot that a step writes each end's vector to: with one end, slot `time`."""
        del slots
        return [time]

    def start(self, batch: int, steps: int, width: int) -> SlotState:
        """Return an empty memory for at most `steps` steps."""
        slots = self.slots(steps)
        # JAX's float, which `daxy.training.backend` pins to 32 bits: tests compute with 64.
        return SlotState(jnp.zeros((batch, slots), float), jnp.zeros((batch, slots, width), float))

    def action_probs(
        self, action_logits: Float[Array, "batch ends actions"]
    ) -> Float[Array, "batch ends actions"]:
        """Return the strengths of pops and pushes."""
        return jax.nn.sigmoid(action_logits)

    def contents(self, state: SlotState) -> Float[Array, "batch width"]:
        """Return the sum of all vectors, weighted by their strengths."""
        return exact_einsum("bs,bsw->bw", self.strengths(state.sums), state.vectors)

    def step(
        self,
        state: SlotState,
        time: Time,
        is_step: Bool[Array, " batch"],
        action_logits: Float[Array, "batch ends actions"],
        values: Float[Array, "batch ends width"],
    ) -> tuple[SlotState, Float[Array, "batch ends width"]]:
        """Return the memory after a step, and what is read then; see `Memory.step`."""
        sums = self.sums_after(state.sums, time, is_step, action_logits)
        vectors = state.vectors
        for end, slot in enumerate(self.slots_written(vectors.shape[1], time)):
            vectors = _write(vectors, values[:, end], slot)
        read = exact_einsum("bes,bsw->bew", self.read_weights(sums), vectors)
        return SlotState(sums, vectors), read

    def sums_after(
        self,
        sums: Sums,
        time: Time,
        is_step: Bool[Array, " batch"],
        action_logits: Float[Array, "batch ends actions"],
    ) -> Sums:
        """Return the sums of strengths after a step; where `is_step` is False, pop and push 0."""
        probs = self.action_probs(action_logits) * is_step[:, None, None]
        pop, push = jnp.moveaxis(probs, -1, 0)
        return self.update_sums(sums, time, pop, push)


def _write(
    vectors: Float[Array, "batch slots width"], value: Float[Array, "batch width"], slot: Time
) -> Float[Array, "batch slots width"]:
    """Return the vectors with one in a slot, the same in all rows or one of its own in each."""
    if jnp.ndim(slot) == 0:
        return jax.lax.dynamic_update_index_in_dim(vectors, value, slot, 1)
    is_slot = jnp.arange(vectors.shape[1], dtype=jnp.int32) == jnp.asarray(slot, jnp.int32)[:, None]
    return jnp.where(is_slot[..., None], value[:, None], vectors)


def slot_numbers(sums: Sums) -> Int[Array, " slots"]:
    """Return the number of each slot."""
    return jnp.arange(sums.shape[1], dtype=jnp.int32)


def column(time: Time) -> Int[Array, "_ 1"]:
    """Return a time, or the time of each row, to compare with all slots."""
    return jnp.reshape(jnp.asarray(time, jnp.int32), (-1, 1))


def next_slot(sums: Sums) -> Sums:
    """Return the sum of each slot's next slot, 0 after the last."""
    return jnp.pad(sums[:, 1:], ((0, 0), (0, 1)))


def previous_slot(sums: Sums) -> Sums:
    """Return the sum of each slot's previous slot, 0 before the first."""
    return jnp.pad(sums[:, :-1], ((0, 0), (1, 0)))


def topmost(sums: Sums) -> Sums:
    """Return the read weights of equation 3: how much of each slot is among the topmost 1."""
    return jnp.minimum(sums, 1) - jnp.minimum(next_slot(sums), 1)
