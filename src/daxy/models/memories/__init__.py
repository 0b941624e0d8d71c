"""Memories that grow with time: one a file, and the folder is the registry.

To add one, add a file that exposes `MEMORY`, a `Memory`. Any memory works with any controller.
"""

from __future__ import annotations

from daxy.core import registry
from daxy.models.memories._memory import Foreseen, HandedOn, Kept, Memory, Moves, StrengthMemory

__all__ = ["Foreseen", "HandedOn", "Kept", "Memory", "Moves", "StrengthMemory", "available", "get"]


def available() -> list[str]:
    """Return the names of all memories."""
    return registry.entries(__name__)


def get(name: str) -> Memory:
    """Return a memory.

    Raises:
        UnknownName: there is no such memory.
    """
    return registry.load(__name__, name, "MEMORY", kind="memory").MEMORY
