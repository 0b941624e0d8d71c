"""Compiled programs are kept between processes, in JAX's persistent cache."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import jax

LEAST_SECONDS = 0.2
"""Programs that compile faster than this are not worth a file."""


def keep_compilations() -> None:
    """Keep compiled programs in $DAXY_CACHE, else in the user's cache folder.

    $JAX_COMPILATION_CACHE_DIR goes first; an empty $DAXY_CACHE turns it off. A cache that cannot be
    read or written costs time, nothing else.
    """
    # JAX writes an entry in place: a process that was killed leaves half of one.
    warnings.filterwarnings("ignore", message="Error reading persistent compilation cache entry")
    chosen = os.environ.get("DAXY_CACHE")
    if chosen == "" or "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(chosen) if chosen else home / "daxy"
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", LEAST_SECONDS)
