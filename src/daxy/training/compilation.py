"""Compiled programs are kept between processes; and how many are compiled at a time."""

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
"""Programs that compile faster than this are not worth a file."""


def keep_compilations() -> None:
    """Keep compiled programs in the folder of `daxy.core.cache`.

    $JAX_COMPILATION_CACHE_DIR goes first. A cache that cannot be read or written costs time,
    nothing else.
    """
    # JAX writes an entry in place: a process that was killed leaves half of one.
    for doing in ("reading", "writing"):
        said = f"Error {doing} persistent compilation cache entry"
        warnings.filterwarnings("ignore", message=said)
    folder = cache.folder()
    if folder is None or "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", LEAST_SECONDS)


def one_after_another(programs: Sequence[Callable[..., Result]]) -> list[Callable[..., Result]]:
    """Return programs that are called in threads side by side, and compiled one after another.

    A program compiles when it is first called with arrays of some shapes. Nothing in a training
    takes more memory: some hundreds of megabytes, which go back to the system when it is done.
    """
    lock = Lock()

    def alone(program: Callable[..., Result]) -> Callable[..., Result]:
        compiled = set[tuple[tuple[int, ...], ...]]()

        def call(*arguments: object) -> Result:
            shapes = tuple(np.shape(leaf) for leaf in jax.tree.leaves(arguments))
            if shapes in compiled:
                return program(*arguments)
            with lock:
                give_memory_back()
                result = program(*arguments)
                give_memory_back()
            compiled.add(shapes)
            return result

        return call

    return [alone(program) for program in programs]


def give_memory_back() -> None:
    """Let go of what the C library keeps of freed memory, where it is GNU's.

    It keeps what lies between blocks still in use, which after compiling is most of what was freed.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
