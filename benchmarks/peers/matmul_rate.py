"""The machine's float32 matrix-multiply rate: the 100% against which benchmarks are read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import torch

SIZES = (1024, 2048, 4096)


@dataclass(frozen=True)
class Product:
    """A product of square matrices."""

    multiply: Callable[[], object]
    gflop: float
    rate: float
    """The highest rate in GFLOP/s that it was seen at."""


def fastest_product(sizes: tuple[int, ...] = SIZES, repeats: int = 5) -> Product:
    """Return the product of float32 matrices that this machine is fastest at.

    The fastest over all sizes and repeats, by NumPy, PyTorch or JAX, on every core this process may
    use. It takes a few seconds on two cores; nothing else should be running.
    """
    every = [product for size in sizes for product in _products(size, repeats)]
    return max(every, key=lambda product: product.rate)


def _cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _products(size: int, repeats: int) -> list[Product]:
    """Return the product of matrices of one size by each library."""
    generator = np.random.default_rng(0)
    left, right = generator.standard_normal((2, size, size), np.float32)
    product = np.empty_like(left)
    left_tensor, right_tensor = torch.from_numpy(left), torch.from_numpy(right)
    product_tensor = torch.from_numpy(product)
    multiply = jax.jit(jnp.matmul)
    left_array, right_array = jnp.asarray(left), jnp.asarray(right)

    def by_torch() -> None:
        threads = torch.get_num_threads()
        torch.set_num_threads(_cores())
        torch.mm(left_tensor, right_tensor, out=product_tensor)
        torch.set_num_threads(threads)

    calls: tuple[Callable[[], object], ...] = (
        lambda: multiply(left_array, right_array).block_until_ready(),
        lambda: np.matmul(left, right, out=product),
        by_torch,
    )
    gflop = 2 * size**3 / 1e9
    return [Product(call, gflop, gflop / _fastest(call, repeats)) for call in calls]


def _fastest(call: Callable[[], object], repeats: int) -> float:
    """Return the seconds of the fastest of several calls, after one that does not count."""
    call()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    print(f"{fastest_product().rate:.0f} GFLOP/s")
