"""Training recipes as values; a paper's own recipe has the paper's name."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal, TypeAlias

from daxy.core.errors import UnknownName, require
from daxy.core.settings import check_types

Optimizer: TypeAlias = Literal["sgd", "adam"]


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How a network is trained, selected and decoded; every field is a flag of `daxy train`.

    The defaults are those of Bastings et al. (2018, section 6.1), and where the paper is silent
    those of the authors' code.
    """

    optimizer: Optimizer = "sgd"
    """The rule that turns gradients into steps."""
    learning_rate: float = 0.2
    """Of the first epoch."""
    decay: float = 0.96
    """The learning rate is multiplied by this after each epoch."""
    weight_decay: float = 1e-8
    """This much of each weight is added to its gradient."""
    clip: float = 5.0
    """Gradients with a larger norm than this are scaled down to it."""
    batch_size: int = 32
    """Examples in a step; batches hold examples of similar source length."""
    epochs: int = 50
    """Passes over the training set (the paper is silent; the authors' README says 50)."""
    dropout: float = 0.2
    """On both embeddings and on the pre-output's input."""
    mask_after_predicted_end: bool = False
    """Leave out the loss of what follows the model's own first END, as the authors' code does."""
    limit: int = 50
    """Tokens that greedy decoding writes at most, END included; never taken from the target."""

    def __post_init__(self) -> None:
        check_types(Protocol, vars(self))
        for name in ("learning_rate", "decay", "clip", "batch_size", "epochs", "limit"):
            value = getattr(self, name)
            flag = name.replace("_", "-")
            require(value > 0, f"{flag} must be positive, not {value}")
            require(isfinite(value), f"{flag} must be finite, not {value}")
        require(self.weight_decay >= 0, f"weight-decay must not be negative: {self.weight_decay}")
        require(isfinite(self.weight_decay), "weight-decay must be finite")
        require(0 <= self.dropout < 1, f"dropout must be in [0, 1), not {self.dropout}")


DEFAULT = "bastings2018"
PROTOCOLS = {DEFAULT: Protocol()}


def protocol(name: str) -> Protocol:
    """Return the recipe of that name.

    Raises:
        UnknownName: there is none.
    """
    if name not in PROTOCOLS:
        raise UnknownName("protocol", name, PROTOCOLS)
    return PROTOCOLS[name]
