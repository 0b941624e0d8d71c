"""A convolutional encoder of grid worlds, which are maps of what is on each cell."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from daxy.models.layers.initial import uniform
from daxy.models.layers.linear import times
from daxy.worlds.columns import CELLS

CHANNELS = CELLS.shape[1]
"""What a cell is described by: see `daxy.worlds.grid.CHANNELS`."""


class WorldEncoder(eqx.Module):
    """Convolutions with kernels of several sizes, side by side (Ruis et al. 2020, appendix D)."""

    kernels: tuple[Float[Array, "window channels"], ...]
    """Of each size, with what one place in the window has next to what the one before has."""
    biases: tuple[Float[Array, " channels"], ...]

    def __init__(self, sizes: Sequence[int], channels: int, *, key: PRNGKeyArray) -> None:
        windows = [size**2 * CHANNELS for size in sizes]
        keys = jax.random.split(key, (2, len(windows)))
        drawn = list(zip(windows, *keys, strict=True))
        self.kernels = tuple(uniform(own, (fan, channels), fan) for fan, own, _ in drawn)
        self.biases = tuple(uniform(own, (channels,), fan) for fan, _, own in drawn)

    def __call__(self, maps: Int[Array, "batch row column"]) -> Float[Array, "batch cell features"]:
        """Return the features of each cell, before the ReLU; beyond its edges a world is empty.

        Args:
            maps: A byte for each cell: see `daxy.worlds.columns.Worlds.maps`.
        """
        cells = jnp.asarray(CELLS, jnp.float32)[maps]
        found = [
            times(_windows(cells, _side(kernel)), kernel) + bias
            for kernel, bias in zip(self.kernels, self.biases, strict=True)
        ]
        features = jnp.concatenate(found, axis=-1)
        return features.reshape(len(maps), -1, features.shape[-1])


def _side(kernel: Float[Array, "window channels"]) -> int:
    return int(np.sqrt(kernel.shape[0] // CHANNELS))


def _windows(
    cells: Float[Array, "batch row column channel"], side: int
) -> Float[Array, "batch row column window"]:
    """Return what is around each cell, in a square with this side."""
    _, rows, columns, _ = cells.shape
    edge = side // 2
    wide = jnp.pad(cells, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    parts = [
        wide[:, row : row + rows, column : column + columns]
        for row in range(side)
        for column in range(side)
    ]
    return jnp.concatenate(parts, axis=-1)
