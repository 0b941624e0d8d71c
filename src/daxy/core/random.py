"""One random stream per purpose: adding a purpose shifts no other."""

from __future__ import annotations

import zlib

import numpy as np

from daxy.core.errors import require


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Return the generator for one purpose under one seed; the same arguments, the same draws.

    Raises:
        WrongRequest: the seed is negative.
    """
    require(seed >= 0, f"a seed must not be negative: {seed}")
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])
