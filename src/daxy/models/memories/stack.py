"""The neural stack: last in, first out (Grefenstette et al. 2015, equations 1 to 3)."""

from __future__ import annotations

from typing import final

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from daxy.models.memories._memory import (
    EachEnd,
    StrengthMemory,
    Strengths,
    Time,
    column,
    topmost,
)


@final
class Stack(StrengthMemory):
    """Slots from the bottom up; a sum is that of the strengths from a slot to the top."""

    name = "stack"
    ends = 1

    def moved(self, sums: Strengths, time: Time, pop: EachEnd, push: EachEnd) -> Strengths:
        """Return the sums after a pop, which takes from the top, and a push on it."""
        is_there = jnp.arange(sums.shape[1], dtype=jnp.int32) <= column(time)
        return jnp.where(is_there, jax.nn.relu(sums - pop) + push, 0)

    def weights(self, sums: Strengths) -> Float[Array, "batch ends slots"]:
        """Return how much of each slot is among the topmost 1."""
        return topmost(sums)[:, None]


MEMORY = Stack()
