"""Device meshes: sharding of the replicas, and of the examples of a batch (data-parallel).

Small matrix products are too short to be split over threads: the steps of a recurrence are faster
if each core has examples of its own. So each core is a device; see `benchmarks/training.py`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import jax
import numpy as np
from jax.sharding import Mesh

REPLICAS, EXAMPLES = "replicas", "examples"
"""Axes of a mesh."""


def use_every_core() -> None:
    """Make each core of this process a device; no effect once JAX has started."""
    if "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", ""):
        return
    try:
        jax.config.update("jax_num_cpu_devices", _cores())
    except RuntimeError:
        return


MIN_EXAMPLES = 8
"""Minimum examples of a data-parallel device: for fewer, summing the gradients costs too much.

Not measured below 16: only halves of a batch of 32 on two cores were timed.
"""


def data_parallel_sizes(batch: int) -> list[int]:
    """Return the numbers of devices that a batch may be sharded over evenly."""
    return [parts for parts in _divisors(batch) if parts == 1 or batch // parts >= MIN_EXAMPLES]


def make_mesh(replicas: int, parts: Sequence[int], *, in_time_slices: bool = False) -> Mesh:
    """Return the mesh with the smallest maximum work of a device.

    Among equal meshes, one that shards replicas evenly is preferred, then one with more rows:
    replicas need no sum of gradients.

    Args:
        replicas: Number of replicas, sharded over the rows of the mesh.
        parts: Possible numbers of columns, over which the examples of a batch are sharded.
        in_time_slices: Whether replicas share devices in time slices, which balance the work of
            the rows; see `daxy.training.time_slices`.
    """
    devices = np.array(jax.devices())
    shapes = [
        (rows, columns)
        for rows in range(1, replicas + 1)
        for columns in parts
        if rows * columns <= len(devices)
    ]

    def cost(shape: tuple[int, int]) -> tuple[float, int, int]:
        rows, columns = shape
        if in_time_slices:
            return replicas / rows / columns, 0, -rows
        return -(-replicas // rows) / columns, -replicas % rows, -rows

    rows, columns = min(shapes, key=cost)
    return Mesh(devices[: rows * columns].reshape(rows, columns), (REPLICAS, EXAMPLES))


VMAP_BYTES = 2**22
"""Maximum bytes of the weights of several vmapped replicas on a CPU device."""
VMAP_WORK = 3 * 2**19
"""Maximum bytes of weights, times examples of a batch, of a vmapped replica on a CPU.

Of the measured sizes, 1.4 MiB was over a tenth faster with vmap, and 1.9 MiB was faster without.
"""


def max_vmapped(replicas: int, size: int, batch: int) -> int:
    """Return the maximum number of vmapped replicas of a device.

    On an accelerator all replicas are vmapped. On a CPU, vmap saves the overhead of small
    operations. With large weights it is slower: replicas evict each other from the cache, and the
    carry of a loop is copied at every step. Then groups of equal size, if possible, train in time
    slices.

    Args:
        replicas: Number of replicas.
        size: Bytes of the weights of a replica.
        batch: Examples of a batch.
    """
    if jax.default_backend() != "cpu":
        return replicas
    most = 1 if size * batch > VMAP_WORK else min(replicas, max(1, VMAP_BYTES // size))
    even = max(size for size in _divisors(replicas) if size <= most)
    return even if 2 * even >= most else most


YEAR = str(365 * 24 * 60 * 60)
"""In seconds."""


def compiler_options() -> dict[str, str]:
    """Return the compiler options of training programs.

    The CPU scheduler orders operations for the least memory, so that their inputs are still in the
    cache. Collectives wait for a year: by default XLA aborts a process that was suspended, for
    example while a laptop sleeps.
    """
    if jax.default_backend() != "cpu":
        return {}
    return {
        "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
        "xla_cpu_collective_call_warn_stuck_seconds": YEAR,
        "xla_cpu_collective_call_terminate_timeout_seconds": YEAR,
    }


def _divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
