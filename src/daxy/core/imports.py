"""Errors of a library's import, told from their traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from daxy.core.errors import RunFailed


def import_failure(error: BaseException) -> RunFailed | None:
    """Return what to say of an error that ended the import of JAX; None for any other.

    JAX reads its environment variables when it is imported, and refuses a wrong value there.
    """
    if "jax" in sys.modules or not any(map(_is_of_jax, _modules(error))):
        return None
    advice = "correct or unset that variable, or install JAX again"
    return RunFailed(f"JAX cannot be imported: {error}; {advice}")


def _is_of_jax(module: str) -> bool:
    return module.partition(".")[0] in ("jax", "jaxlib")


def _modules(error: BaseException) -> Iterator[str]:
    """Yield the name of the module of every frame that the error went through."""
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame.f_globals.get("__name__", "")
        trace = trace.tb_next
