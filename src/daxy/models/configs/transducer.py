"""Configuration of `daxy.models.transducer`."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from daxy.core.errors import UnknownName, require
from daxy.core.registry import Registry
from daxy.core.settings import added_field, check_positive

if TYPE_CHECKING:
    from daxy.models.memories import Memory

NONE = "none"
MEMORIES: Registry[Memory] = Registry("daxy.models.memories", "MEMORY", "memory")
"""As in `daxy.models.memories`, which imports JAX."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """A controller with a memory; every field is a flag of `daxy train`."""

    memory: str = "stack"
    """stack, queue, deque, superposition (Joulin & Mikolov 2015), or none."""
    hidden: int = 256
    """Units of each layer of the controller."""
    layers: int = 1
    """Layers of the controller."""
    embedding: int = 64
    """Width of a token's embedding and, with a memory, of the vector that predicts the next
    token."""
    memory_width: int = 256
    """Width of a vector in the memory."""
    pop_bias: float = -1.0
    """Initial bias of pops; from 0 on, the memory often stays unused."""
    push_bias: float | None = added_field(None)
    """Initial bias of pushes; None: near 0, as other biases. For a deque with a bias of its own at
    the bottom, that of the top."""
    bottom_push_bias: float | None = added_field(None)
    """Initial bias of pushes at the bottom of a deque; None: as at the top. Well below the pop bias
    (-1.75 with 0.5 at the top, or -4 with 2), the bottom first reads the oldest push, as a
    queue."""

    def __post_init__(self) -> None:
        check_positive(self, "hidden", "layers", "embedding", "memory_width")
        if self.memory != NONE and self.memory not in MEMORIES:
            raise UnknownName("memory", self.memory, [*MEMORIES.available(), NONE])
        for name in ("memory_width", "pop_bias", "push_bias", "bottom_push_bias"):
            value, flag = getattr(self, name), name.replace("_", "-")
            require(value is None or isfinite(value), f"{flag} must be finite, not {value}")
            plain = value == getattr(type(self), name)
            said = f"without a memory there is no {flag}; leave it out"
            require(self.memory != NONE or plain, said)
        # A memory imports JAX: only a configuration with a bias of pushes asks it.
        if (self.push_bias is None and self.bottom_push_bias is None) or self.kind is None:
            return
        has_pushes, has_bottom = "push" in self.kind.actions, "bottom" in self.kind.sides
        require(has_pushes, f"a {self.memory} has no pushes; leave push-bias out")
        said = f"a {self.memory} has no bottom; leave bottom-push-bias out"
        require(has_bottom or self.bottom_push_bias is None, said)

    @property
    def kind(self) -> Memory | None:
        """The memory, if there is one."""
        return None if self.memory == NONE else MEMORIES.get(self.memory)
