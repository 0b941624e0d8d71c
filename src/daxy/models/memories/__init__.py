"""Memories that grow with time: one a file, and the folder is the registry.

To add one, add a file that exposes `MEMORY`, a `Memory`. Any memory works with any controller.
"""

from __future__ import annotations

from daxy.core.registry import Registry, named_by
from daxy.kernels.memory_reads import Time
from daxy.models.memories._memory import Memory
from daxy.models.memories._strength_memory import SlotState, StrengthMemory

__all__ = ["Memory", "SlotState", "StrengthMemory", "Time", "available", "get"]


MEMORIES = Registry(__name__, "MEMORY", "memory", Memory, problem=named_by("name"))
available, get = MEMORIES.available, MEMORIES.get
