"""The interface between a controller and a memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from jaxtyping import Array, Bool, Float

from daxy.kernels.memory_reads import Time


class Memory(ABC):
    """Vectors that are pushed and popped, in parts, at one or two ends.

    At each step the controller gives, for each end, logits of its actions and a vector to push. It
    gets the vector that is read there.
    """

    name: ClassVar[str]
    ends: ClassVar[int]
    """Places where vectors are pushed, popped and read."""
    sides: ClassVar[tuple[str, ...]] = ("",)
    """Names of the ends, where there are several; `bottom` has a bias of its own for pushes
    (`--bottom-push-bias`)."""
    actions: ClassVar[tuple[str, ...]]
    """Actions at each end; the initial bias of `pop` is `--pop-bias`, of `push` `--push-bias`."""

    @abstractmethod
    def start(self, batch: int, steps: int, width: int) -> Any:
        """Return an empty memory for at most `steps` steps: a tuple of arrays, batch first."""

    @abstractmethod
    def action_probs(
        self, action_logits: Float[Array, "batch ends actions"]
    ) -> Float[Array, "batch ends actions"]:
        """Return how much of each action is done, between 0 and 1."""

    @abstractmethod
    def contents(self, state: Any) -> Float[Array, "batch width"]:
        """Return the sum of all vectors in a memory, weighted by their strengths."""

    @abstractmethod
    def step(
        self,
        state: Any,
        time: Time,
        is_step: Bool[Array, " batch"],
        action_logits: Float[Array, "batch ends actions"],
        values: Float[Array, "batch ends width"],
    ) -> tuple[Any, Float[Array, "batch ends width"]]:
        """Return the memory after step `time`, counted from 0, and what is read then.

        Where `is_step` is False, a row of the memory stays as it is.
        """
