"""Settings of JAX, changed for the whole process as a variable of the environment changes them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import jax

from daxy.training.backend import STATES


@contextmanager
def setting(name: str, value: Any) -> Generator[None]:
    """Give a setting another value, in every thread."""
    before = STATES[name].get_global() if name in STATES else jax.config.values[name]
    jax.config.update(name, value)
    try:
        yield
    finally:
        jax.config.update(name, before)
