"""Compiled programs are kept between processes, in JAX's persistent cache."""

from __future__ import annotations

import os
from pathlib import Path

import jax

LEAST_SECONDS = 0.2
"""Programs that compile faster than this are not worth a file."""


def keep_compilations() -> None:
    """Keep compiled programs in $DAXY_CACHE, else in the user's cache folder, unless JAX has one.

    An empty $DAXY_CACHE turns it off. A cache that cannot be written costs time, nothing else.
    """
    if jax.config.jax_compilation_cache_dir is not None:
        return
    chosen = os.environ.get("DAXY_CACHE")
    if chosen == "":
        return
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(chosen) if chosen else home / "daxy"
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", LEAST_SECONDS)
