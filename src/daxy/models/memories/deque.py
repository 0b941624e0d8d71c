"""The neural DeQue: in and out at both ends (Grefenstette et al. 2015, equations 6 to 8).

A step pops from the top, then from the bottom, then pushes at both and reads at both. As printed,
the bounds of equations 7 and 8 would leave the topmost slot out; they are taken to mean all.
"""

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
    after,
    column,
    topmost,
)


@final
class DeQue(StrengthMemory):
    """Slots from the bottom up, filled from the middle on; sums are from a slot to the top.

    The first end is the top, the second the bottom. Slots below the bottom have the sum of all, as
    if nothing were in them.
    """

    name = "deque"
    ends = 2
    sides = ("top", "bottom")

    def slots(self, steps: int) -> int:
        """Return how many slots so many steps need: each fills one at either end."""
        return 2 * steps

    def places(self, slots: int, time: Time) -> list[Time]:
        """Return the slot that a step puts each end's vector in."""
        middle = slots // 2
        return [middle + time, middle - 1 - time]

    def moved(self, sums: Strengths, time: Time, pop: EachEnd, push: EachEnd) -> Strengths:
        """Return the sums after pops at both ends and pushes at both."""
        top, bottom = self.places(sums.shape[1], time)
        left = jax.nn.relu(sums - pop[:, :1])
        left = jnp.minimum(left, jax.nn.relu(left[:, :1] - pop[:, 1:]))
        place = jnp.arange(sums.shape[1], dtype=jnp.int32)
        grown = jnp.where(place <= column(top), left + push[:, :1], 0)
        return grown + jnp.where(place <= column(bottom), push[:, 1:], 0)

    def weights(self, sums: Strengths) -> Float[Array, "batch ends slots"]:
        """Return how much of each slot is among the topmost 1, and among the lowest 1."""
        whole = sums[:, :1]
        bottom = jnp.minimum(whole - after(sums), 1) - jnp.minimum(whole - sums, 1)
        return jnp.stack([topmost(sums), bottom], axis=1)


MEMORY = DeQue()
