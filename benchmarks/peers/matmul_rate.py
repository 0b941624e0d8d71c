"""The machine's float32 matrix-multiply rate: the 100% against which benchmarks are read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import torch

SIZES = (1024, 2048, 4096)


def measured_matmul_rate(sizes: tuple[int, ...] = SIZES, repeats: int = 5) -> float:
    """Return the highest rate in GFLOP/s at which float32 square matrices were multiplied.

    The best over all sizes and repeats, by NumPy, PyTorch or JAX, whichever is fastest, on every
    core this process may use. It takes a few seconds on two cores; nothing else should be running.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(_cores())
    try:
        return max(_rate(size, repeats) for size in sizes)
    finally:
        torch.set_num_threads(threads)


def _cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _rate(size: int, repeats: int) -> float:
    """Return the best rate in GFLOP/s for matrices of one size."""
    generator = np.random.default_rng(0)
    left, right = generator.standard_normal((2, size, size), np.float32)
    product = np.empty_like(left)
    left_tensor, right_tensor = torch.from_numpy(left), torch.from_numpy(right)
    product_tensor = torch.from_numpy(product)
    multiply = jax.jit(jnp.matmul)
    left_array, right_array = jnp.asarray(left), jnp.asarray(right)
    seconds = min(
        _fastest(lambda: multiply(left_array, right_array).block_until_ready(), repeats),
        _fastest(lambda: np.matmul(left, right, out=product), repeats),
        _fastest(lambda: torch.mm(left_tensor, right_tensor, out=product_tensor), repeats),
    )
    return 2 * size**3 / seconds / 1e9


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
    print(f"{measured_matmul_rate():.0f} GFLOP/s")
