"""Memories that grow with time: one a file, and the folder is the registry.

To add one, add a file that exposes `MEMORY`, a `Memory`. Any memory works with any controller.
"""

from __future__ import annotations

from daxy.core.registry import Registry
from daxy.models.memories._memory import Foreseen, HandedOn, Kept, Memory, Moves, StrengthMemory

__all__ = ["Foreseen", "HandedOn", "Kept", "Memory", "Moves", "StrengthMemory", "available", "get"]


MEMORIES = Registry(__name__, "MEMORY", "memory", Memory)
available, get = MEMORIES.available, MEMORIES.get
