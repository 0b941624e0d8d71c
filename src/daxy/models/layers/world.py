"""A convolutional encoder of grid worlds."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Integer, PRNGKeyArray

from daxy.models.layers.initial import uniform
from daxy.models.layers.linear import matmul


class WorldEncoder(eqx.Module):
    """Convolutions with kernels of several sizes, side by side (Ruis et al. 2020, appendix D)."""

    kernels: tuple[Float[Array, "window features"], ...]
    """Of each size, with what one place in the window has next to what the one before has."""
    biases: tuple[Float[Array, " features"], ...]

    def __init__(
        self, sizes: Sequence[int], channels: int, features: int, *, key: PRNGKeyArray
    ) -> None:
        windows = [size**2 * channels for size in sizes]
        keys = jax.random.split(key, (2, len(windows)))
        drawn = list(zip(windows, *keys, strict=True))
        self.kernels = tuple(uniform(own, (fan, features), fan) for fan, own, _ in drawn)
        self.biases = tuple(uniform(own, (features,), fan) for fan, _, own in drawn)

    def __call__(
        self, world: Integer[Array, "batch row column channel"]
    ) -> Float[Array, "batch cell features"]:
        """Return the features of each cell, before the ReLU; beyond its edges a world is empty."""
        cells = world.astype(jnp.float32)
        pairs = zip(self.kernels, self.biases, strict=True)
        features = jnp.concatenate([_convolved(cells, *pair) for pair in pairs], axis=-1)
        return features.reshape(len(world), -1, features.shape[-1])


def _convolved(
    cells: Float[Array, "batch row column channel"],
    kernel: Float[Array, "window features"],
    bias: Float[Array, " features"],
) -> Float[Array, "batch row column features"]:
    """Return what a kernel makes of each cell.

    A column of cells, each with its neighbours in the row, meets all that a column's cells make of
    it in one product. Library convolutions took six times as long on a CPU; windows in both
    directions twice as long: most of the time went into copying them.
    """
    batch, rows, columns, channels = cells.shape
    side, features = int((len(kernel) // channels) ** 0.5), kernel.shape[1]
    if side == 1:
        return matmul(cells, kernel) + bias
    edge = side // 2
    wide = jnp.pad(cells, ((0, 0), (0, 0), (edge, edge), (0, 0)))
    near = jnp.stack([wide[:, :, left : left + columns] for left in range(side)], axis=3)
    # How far down in the kernel's window each row of cells is for each row of features.
    down = np.arange(rows)[:, None] - np.arange(rows) + edge
    is_near = ((down >= 0) & (down < side))[..., None, None]
    taps = kernel.reshape(side, -1, features)[np.clip(down, 0, side - 1)]
    weight = jnp.where(is_near, taps, 0).swapaxes(1, 2).reshape(-1, rows * features)
    column = near.swapaxes(1, 2).reshape(batch, columns, -1)
    return matmul(column, weight).reshape(batch, columns, rows, features).swapaxes(1, 2) + bias
