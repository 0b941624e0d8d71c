"""Dropout whose rate is a number, so that replicas with different rates share one program.

Whether a value is dropped depends on the step's key, the place, the example's slot in the batch and
the value's index in the example, and on nothing else: neither on the padded length nor on how a
batch is spread over devices.
"""

from __future__ import annotations

import zlib

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt32

ROOM = 1 << 12
"""Length that an axis of padded length has in the index of a value."""


class Dropout(eqx.Module):
    """Dropout of one training step: a key that is folded with the name of each place in a model."""

    key: PRNGKeyArray
    rate: Float[Array, ""]
    first_slot: Int[Array, ""] | int = 0
    """The place of the first example of this part in the whole batch."""

    def __call__(
        self,
        place: str,
        values: Float[Array, "*shape"],
        batch_axis: int = 0,
        padded: tuple[int, ...] = (),
    ) -> Float[Array, "*shape"]:
        """Zero each value with probability `rate` and scale the others by 1 / (1 - rate).

        Args:
            place: Name of the place in the model.
            values: The values.
            batch_axis: Axis of the examples.
            padded: Axes of padded length, if it is not the first one beside the examples.
        """
        key = jax.random.fold_in(self.key, zlib.crc32(place.encode()))
        slots = jnp.arange(values.shape[batch_axis], dtype=jnp.uint32)
        slots += jnp.asarray(self.first_slot, jnp.uint32)
        seeds = _mix(_mix(slots) ^ jax.random.bits(key, dtype=jnp.uint32))
        others = tuple(axis for axis in range(values.ndim) if axis != batch_axis)
        indices = jnp.zeros((), jnp.uint32)
        for axis in others:
            size = values.shape[axis]
            index = jnp.arange(size, dtype=jnp.uint32)
            indices = indices[..., None] * jnp.uint32(ROOM if axis in padded else size) + index
        draws = _mix(jnp.expand_dims(_mix(indices), batch_axis) ^ jnp.expand_dims(seeds, others))
        kept = draws >= jnp.round(self.rate * 2.0**32).astype(jnp.uint32)
        return jnp.where(kept, values * (1 / (1 - self.rate)), 0)


def _mix(numbers: UInt32[Array, "*shape"]) -> UInt32[Array, "*shape"]:
    """Return the numbers, each scattered over all of its 32 bits: a bijection.

    Multiplications and shifts alternate as in the last lines of MurmurHash3, with the constants
    that Wellons (2018, "Prospecting for Hash Functions") found to have the least bias. XLA fuses
    them into what reads the draws; a general generator's twenty rounds cost a tenth of a step.
    """
    numbers = (numbers ^ (numbers >> 16)) * jnp.uint32(0x7FEB352D)
    numbers = (numbers ^ (numbers >> 15)) * jnp.uint32(0x846CA68B)
    return numbers ^ (numbers >> 16)


def drop(
    dropout: Dropout | None, place: str, values: Float[Array, "*shape"], batch_axis: int = 0
) -> Float[Array, "*shape"]:
    """Apply dropout, if there is any: without it a model is deterministic."""
    return values if dropout is None else dropout(place, values, batch_axis)
