"""The neural stack: last in, first out (Grefenstette et al. 2015, equations 1 to 3).

Step t pops with strength u, pushes the vector v with strength d, and reads r:

    V_t[i] = v if i = t, else V_t-1[i]                                                   (1)
    s_t[i] = d if i = t, else max(0, s_t-1[i] - max(0, u - sum_{j>i} s_t-1[j]))          (2)
    r_t    = sum_i min(s_t[i], max(0, 1 - sum_{j>i} s_t[j])) V_t[i]                      (3)

With the sums S[i] = sum_{j>=i} s[j], a pop takes u from every sum, and never below 0:

    S_t[i] = max(0, S_t-1[i] - u) + d for i <= t, else 0                                 (2)
    r_t    = sum_i (min(S_t[i], 1) - min(S_t[i+1], 1)) V_t[i]                            (3)
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
    slot_numbers,
    topmost,
)


@final
class Stack(StrengthMemory):
    """Slots from the bottom up."""

    name = "stack"
    ends = 1

    def update_sums(self, sums: Sums, time: Time, pop: EachEnd, push: EachEnd) -> Sums:
        """Return the sums after a pop and a push at the top (equation 2)."""
        is_pushed = slot_numbers(sums) <= column(time)
        return jnp.where(is_pushed, jax.nn.relu(sums - pop) + push, 0)

    def read_weights(self, sums: Sums) -> Float[Array, "batch ends slots"]:
        """Return how much of each slot is among the topmost 1 (equation 3)."""
        return topmost(sums)[:, None]


MEMORY = Stack()
