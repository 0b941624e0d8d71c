"""The superposition stack of Joulin & Mikolov (2015, equations 5 and 6, with no operation).

Every slot is a mixture of what it would hold after a push, after a pop and after neither, so its
vectors change where those of the other memories stay as they are.

It differs from the paper in what all memories here have in common: tanh values are pushed where the
paper pushes logistic ones, an empty slot is 0 where the authors' program has -1, and pops begin
held back, where that program has no bias of an operation.
"""

from __future__ import annotations

from typing import NamedTuple, final

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from daxy.models.memories._memory import Foreseen, Memory, Time


class Mixed(NamedTuple):
    """The slots, from the top down."""

    vectors: Float[Array, "batch slots width"]


@final
class Superposition(Memory):
    """A stack of which a step does all three operations, each in part; its top is read."""

    name = "superposition"
    ends = 1
    wants = ("push", "pop", "keep")

    def start(self, batch: int, steps: int, width: int) -> Mixed:
        """Return an empty memory, for at most so many steps."""
        return Mixed(jnp.zeros((batch, steps, width), float))

    def shares(self, wanted: Float[Array, "batch ends wants"]) -> Float[Array, "batch ends wants"]:
        """Return the shares of the operations, which add up to 1."""
        return jax.nn.softmax(wanted, axis=-1)

    def held(self, state: tuple[Array, ...]) -> Float[Array, "batch width"]:
        """Return the sum of all slots."""
        return Mixed(*state).vectors.sum(axis=1)

    def step(
        self,
        state: tuple[Array, ...],
        time: Time,
        is_step: Bool[Array, " batch"],
        wanted: Float[Array, "batch ends wants"],
        values: Float[Array, "batch ends width"],
        foreseen: Foreseen | None = None,
    ) -> tuple[Mixed, Float[Array, "batch ends width"]]:
        """Return the memory after a step and its top; the three shares add up to 1."""
        del time, foreseen
        (vectors,) = state
        nothing = jnp.array([0.0, 0.0, 1.0], wanted.dtype)
        shares = jnp.where(is_step[:, None], self.shares(wanted)[:, 0], nothing)
        push, pop, keep = jnp.moveaxis(shares[..., None, None], 1, 0)
        pushed = jnp.concatenate([values, vectors[:, :-1]], axis=1)
        popped = jnp.pad(vectors[:, 1:], ((0, 0), (0, 1), (0, 0)))
        mixed = push * pushed + pop * popped + keep * vectors
        return Mixed(mixed), mixed[:, :1]


MEMORY = Superposition()
