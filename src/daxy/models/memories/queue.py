"""The neural queue: first in, first out (Grefenstette et al. 2015, equations 4 and 5).

It is the stack (equation 1 included), except that pops and reads begin at the front:

    s_t[i] = d if i = t, else max(0, s_t-1[i] - max(0, u - sum_{j<i} s_t-1[j]))          (4)
    r_t    = sum_i min(s_t[i], max(0, 1 - sum_{j<i} s_t[j])) V_t[i]                      (5)

With the sums S[i] = sum_{j<=i} s[j]:

    S_t[i] = max(0, S_t-1[i] - u) for i < t, S_t[t-1] + d for i >= t                     (4)
    r_t    = sum_i (min(S_t[i], 1) - min(S_t[i-1], 1)) V_t[i]                            (5)
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
    previous_slot,
    slot_numbers,
)


@final
class Queue(StrengthMemory):
    """Slots from the front to the back; those not filled yet have the sum of all."""

    name = "queue"
    ends = 1

    def update_sums(self, sums: Sums, time: Time, pop: EachEnd, push: EachEnd) -> Sums:
        """Return the sums after a pop at the front and a push at the back (equation 4)."""
        left = jax.nn.relu(sums - pop)
        is_old = slot_numbers(sums) < column(time)
        return jnp.where(is_old, left, left[:, -1:] + push)

    def read_weights(self, sums: Sums) -> Float[Array, "batch ends slots"]:
        """Return how much of each slot is among the foremost 1 (equation 5)."""
        capped = jnp.minimum(sums, 1)
        weights: Array = capped - previous_slot(capped)
        return weights[:, None]

    def strengths(self, sums: Sums) -> Sums:
        """Return the strength of each slot."""
        return sums - previous_slot(sums)


MEMORY = Queue()
