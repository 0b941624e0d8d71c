"""Compilation: a cache on disk, and one compilation at a time."""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TypeVar

import jax
import numpy as np

from daxy.core import cache

Result = TypeVar("Result")

LEAST_SECONDS = 0.2
"""Minimum compilation time of a cached program."""


def cache_compilations() -> None:
    """Cache compiled programs in the folder of `daxy.core.cache`.

    $JAX_COMPILATION_CACHE_DIR takes precedence. Errors of the cache are ignored.
    """
    # JAX writes entries in place: a killed process leaves a truncated one.
    for action in ("reading", "writing"):
        message = f"Error {action} persistent compilation cache entry"
        warnings.filterwarnings("ignore", message=message)
    folder = cache.folder()
    if folder is None or "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", LEAST_SECONDS)


def compile_one_at_a_time(programs: Sequence[Callable[..., Result]]) -> list[Callable[..., Result]]:
    """Return programs that may run in several threads, but compile one at a time.

    A program compiles at its first call with arrays of new shapes. This needs more memory than any
    other part of training: some hundreds of megabytes, which are then returned to the system.
    """
    lock = Lock()

    def wrap(program: Callable[..., Result]) -> Callable[..., Result]:
        compiled = set[tuple[tuple[int, ...], ...]]()

        def call(*arguments: object) -> Result:
            shapes = tuple(np.shape(leaf) for leaf in jax.tree.leaves(arguments))
            if shapes in compiled:
                return program(*arguments)
            with lock:
                release_memory()
                result = program(*arguments)
                release_memory()
            compiled.add(shapes)
            return result

        return call

    return [wrap(program) for program in programs]


def release_memory() -> None:
    """Return freed memory to the system (glibc only).

    glibc keeps free memory between blocks in use: after compilation, most of it.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
