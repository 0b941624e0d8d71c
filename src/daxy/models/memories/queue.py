"""The neural queue: first in, first out (Grefenstette et al. 2015, equations 4 and 5)."""

from __future__ import annotations

from typing import final

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from daxy.models.memories._memory import EachEnd, StrengthMemory, Strengths, Time, before, column


@final
class Queue(StrengthMemory):
    """Slots from the front back; a sum is that of the strengths from the front to a slot."""

    name = "queue"
    ends = 1

    def moved(self, sums: Strengths, time: Time, pop: EachEnd, push: EachEnd) -> Strengths:
        """Return the sums after a pop, which takes from the front, and a push at the back.

        Slots that are not used yet have the sum of all, as if nothing were in them.
        """
        left = jax.nn.relu(sums - pop)
        is_old = jnp.arange(sums.shape[1], dtype=jnp.int32) < column(time)
        return jnp.where(is_old, left, left[:, -1:] + push)

    def weights(self, sums: Strengths) -> Float[Array, "batch ends slots"]:
        """Return how much of each slot is among the foremost 1."""
        capped = jnp.minimum(sums, 1)
        weights: Array = capped - before(capped)
        return weights[:, None]

    def strengths(self, sums: Strengths) -> Strengths:
        """Return how much of each slot is left."""
        return sums - before(sums)


MEMORY = Queue()
