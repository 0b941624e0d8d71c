"""The neural DeQue: a queue with two ends (Grefenstette et al. 2015, equations 6 to 8).

Step t pops from the top, then from the bottom, pushes a vector at each, and reads at each:

    V_t    = v_bottom, V_t-1, v_top, from the bottom up                                  (6)
    s_t    = d_bottom, s_t-1 after a pop as in (2) and one as in (4), d_top              (7)
    r_top as in (3), r_bottom as in (5)                                                  (8)

As printed, the bounds of (7) and (8) would leave the topmost slot out; they are taken to mean all.
With the sums S[i] = sum_{j>=i} s[j], the pop from the top is that of the stack. The pop from the
bottom lowers the sum of all, S[1], by u_bottom, and every sum to that at most.
"""

from __future__ import annotations

from typing import final

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from daxy.kernels.memory_reads import Sums, Time
from daxy.models.memories._strength_memory import (
    EachEnd,
    StrengthMemory,
    column,
    next_slot,
    slot_numbers,
    topmost,
)


@final
class DeQue(StrengthMemory):
    """Slots from the bottom up, filled from the middle; those below have the sum of all.

    The first end is the top, the second the bottom.
    """

    name = "deque"
    ends = 2
    sides = ("top", "bottom")

    def slots(self, steps: int) -> int:
        """Return how many slots so many steps fill: each step one at either end."""
        return 2 * steps

    def slots_written(self, slots: int, time: Time) -> list[Time]:
        """Return the slots of equation 6, for the top and for the bottom."""
        middle = slots // 2
        return [middle + time, middle - 1 - time]

    def update_sums(self, sums: Sums, time: Time, pop: EachEnd, push: EachEnd) -> Sums:
        """Return the sums after pops and pushes at both ends (equation 7)."""
        top, bottom = self.slots_written(sums.shape[1], time)
        left = jax.nn.relu(sums - pop[:, :1])
        left = jnp.minimum(left, jax.nn.relu(left[:, :1] - pop[:, 1:]))
        slots = slot_numbers(sums)
        grown = jnp.where(slots <= column(top), left + push[:, :1], 0)
        return grown + jnp.where(slots <= column(bottom), push[:, 1:], 0)

    def read_weights(self, sums: Sums) -> Float[Array, "batch ends slots"]:
        """Return how much of each slot is among the topmost and the lowest 1 (equation 8)."""
        whole = sums[:, :1]
        bottom = jnp.minimum(whole - next_slot(sums), 1) - jnp.minimum(whole - sums, 1)
        return jnp.stack([topmost(sums), bottom], axis=1)


MEMORY = DeQue()
