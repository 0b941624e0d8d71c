"""JSON objects as they are read."""

from __future__ import annotations

from typing import Any


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object's fields; a `ValueError` says which is there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return found
