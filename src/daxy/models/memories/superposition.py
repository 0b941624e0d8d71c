"""The superposition stack of Joulin & Mikolov (2015, equations 5 and 6, with no operation).

Slot i, from the top down, becomes a mixture of what it would hold after each action a:

    s_t[0] = a[push] v + a[pop] s_t-1[1] + a[keep] s_t-1[0]                              (5)
    s_t[i] = a[push] s_t-1[i-1] + a[pop] s_t-1[i+1] + a[keep] s_t-1[i]                   (6)

It differs from the paper in what all memories here share: pushed values are tanh values where the
paper has logistic ones, an empty slot is 0 where the authors' program has -1, and pops have a
negative initial bias, where that program has no bias of an action.
"""

from __future__ import annotations

from typing import NamedTuple, final

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from daxy.kernels.memory_reads import Time
from daxy.models.memories._memory import Memory


class MixedSlots(NamedTuple):
    """The slots, from the top down."""

    vectors: Float[Array, "batch slots width"]


@final
class Superposition(Memory):
    """A stack of which a step does all three actions, each in part; its top is read."""

    name = "superposition"
    ends = 1
    actions = ("push", "pop", "keep")

    def start(self, batch: int, steps: int, width: int) -> MixedSlots:
        """Return an empty memory for at most `steps` steps."""
        return MixedSlots(jnp.zeros((batch, steps, width), float))

    def action_probs(
        self, action_logits: Float[Array, "batch ends actions"]
    ) -> Float[Array, "batch ends actions"]:
        """Return the probabilities of the actions, which add up to 1."""
        return jax.nn.softmax(action_logits, axis=-1)

    def contents(self, state: MixedSlots) -> Float[Array, "batch width"]:
        """Return the sum of all slots."""
        return state.vectors.sum(axis=1)

    def step(
        self,
        state: MixedSlots,
        time: Time,
        is_step: Bool[Array, " batch"],
        action_logits: Float[Array, "batch ends actions"],
        values: Float[Array, "batch ends width"],
    ) -> tuple[MixedSlots, Float[Array, "batch ends width"]]:
        """Return the memory after a step, and its top (equations 5 and 6)."""
        del time
        (vectors,) = state
        keep_all = jnp.array([0.0, 0.0, 1.0], action_logits.dtype)
        probs = jnp.where(is_step[:, None], self.action_probs(action_logits)[:, 0], keep_all)
        push, pop, keep = jnp.moveaxis(probs[..., None, None], 1, 0)
        pushed = jnp.concatenate([values, vectors[:, :-1]], axis=1)
        popped = jnp.pad(vectors[:, 1:], ((0, 0), (0, 1), (0, 0)))
        mixed = push * pushed + pop * popped + keep * vectors
        return MixedSlots(mixed), mixed[:, :1]


MEMORY = Superposition()
