"""Which devices train a group: the replica axis is spread over them, or else each batch.

Small products do not pay for being split over threads: cores get through the steps of a recurrence
faster when each has examples of its own. So each core counts as a device; `benchmarks/training.py`
measures what comes of it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import jax
import numpy as np
from jax.sharding import Mesh

REPLICAS, EXAMPLES = "replicas", "examples"
"""Axes of the grid of devices."""


def use_every_core() -> None:
    """Let JAX see each core that this process may use as a device; no effect once JAX runs."""
    if "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", ""):
        return
    try:
        jax.config.update("jax_num_cpu_devices", _cores())
    except RuntimeError:
        return


LEAST = 8
"""Examples of a batch that a device has at least: fewer are not worth adding up gradients for.

Chosen, not measured: halves of 32 on two cores are the most parts that were timed.
"""


def cuts(batch: int) -> list[int]:
    """Return the numbers of devices that a batch may be spread over evenly."""
    return [parts for parts in _divisors(batch) if parts == 1 or batch // parts >= LEAST]


def grid(replicas: int, parts: Sequence[int], *, in_turns: bool = False) -> Mesh:
    """Return the devices for so many replicas, each in one of these numbers of parts.

    The grid has one axis over which replicas are spread and one over which the examples of each
    are. The device with most to do has as little as can be; among such grids it is one that spreads
    replicas evenly if there is one, and rather splits replicas, whose gradients need not be added
    up. Replicas that train in turns are always spread evenly (see `daxy.training.time_slices`).
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
        if in_turns:
            return replicas / rows / columns, 0, -rows
        return -(-replicas // rows) / columns, -replicas % rows, -rows

    rows, columns = min(shapes, key=cost)
    return Mesh(devices[: rows * columns].reshape(rows, columns), (REPLICAS, EXAMPLES))


ROOM = 2**22
"""Bytes of weights that one device trains side by side, of several replicas: see `side_by_side`."""
WORK = 3 * 2**19
"""Bytes of weights, times examples of a batch, with which a replica's operations have enough to do.

Of what `side_by_side` was measured with, the least that trains faster in turns has 1.9 MiB, the
most that trains faster side by side, by more than a tenth, 1.4 MiB.
"""


def side_by_side(replicas: int, size: int, batch: int) -> int:
    """Return how many replicas, with weights of `size` bytes, a device trains side by side at most.

    Small networks on few examples, whose operations cost more to start than to do, share each of
    them, as all do on an accelerator. On a CPU others push each other out of the cache, and what
    a loop changes would be copied at every step for the sake of their axis: they take turns. Turns
    are of equal numbers where they can be.
    """
    if jax.default_backend() != "cpu":
        return replicas
    most = 1 if size * batch > WORK else min(replicas, max(1, ROOM // size))
    even = max(each for each in _divisors(replicas) if each <= most)
    return even if 2 * even >= most else most


YEAR = str(365 * 24 * 60 * 60)
"""In seconds."""


def compiler_options() -> dict[str, str]:
    """Return what training programs are compiled with beside the defaults.

    Operations of a CPU program in the order that needs least memory, instead of the one with most
    of them at a time: what an operation has just left is still in the cache. And cores that add up
    their gradients wait for each other: else a process that was suspended, as when a laptop sleeps,
    would be ended for it.
    """
    if jax.default_backend() != "cpu":
        return {}
    return {
        "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
        "xla_cpu_collective_call_warn_stuck_seconds": YEAR,
        "xla_cpu_collective_call_terminate_timeout_seconds": YEAR,
    }


def _divisors(number: int) -> list[int]:
    return [each for each in range(1, number + 1) if number % each == 0]


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
