"""State of the training loop: everything that a resumed training needs beside the weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import Diverged

MOST_NATS = 100.0
"""Logarithm of the largest perplexity that is recorded."""


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """Metrics of one epoch of one replica; one line of `log.jsonl`."""

    epoch: int
    """Counted from 1."""
    steps: int
    """Steps since training began."""
    loss: float
    """Mean over the epoch's steps."""
    validation: float | None
    """Score on the validation set; None without one."""
    best_epoch: int
    learning_rate: float
    """Learning rate of this epoch; of a schedule by steps, that after its last step."""
    seconds: float
    """Seconds of the whole group's steps, without evaluation and interruptions."""
    perplexity: float | None = None
    """Training perplexity of a target token; None where the loss is no mean over all tokens."""
    test: float | None = None
    """Score on the test set, where it was asked for. Nothing is selected by it."""
    tests: dict[str, float] = field(default_factory=dict[str, float])
    """Score on each of several tests, by name."""


@dataclass(slots=True)
class TrainerState:
    """Position and history of a group of replicas; lists have an entry per replica."""

    replicas: int
    epoch: int = 0
    """Epochs that have ended."""
    step: int = 0
    """Steps of the current epoch that have ended; 0 after its end."""
    total: int = 0
    """Steps since training began."""
    seconds: float = 0.0
    """Seconds spent on the current epoch's steps."""
    losses: list[float] = field(default_factory=list[float])
    """Sum of the losses of the current epoch's steps."""
    nats: list[float] = field(default_factory=list[float])
    """Sum of the losses, each times the number of items that it is a mean over."""
    counts: list[float] = field(default_factory=list[float])
    """Number of these items."""
    best: list[float] = field(default_factory=list[float])
    """Best value of the selection criterion; -1 before the first, or if none is used."""
    best_epoch: list[int] = field(default_factory=list[int])
    stopped: list[bool] = field(default_factory=list[bool])
    """Replicas that cannot improve any more, have converged or diverged."""
    diverged: list[bool] = field(default_factory=list[bool])
    """Replicas whose loss or weights are NaN or infinite."""
    history: list[list[EpochRecord]] = field(default_factory=list[list[EpochRecord]])

    def __post_init__(self) -> None:
        count = self.replicas
        self.losses = self.losses or [0.0] * count
        self.nats = self.nats or [0.0] * count
        self.counts = self.counts or [0.0] * count
        self.best = self.best or [-1.0] * count
        self.best_epoch = self.best_epoch or [0] * count
        self.stopped = self.stopped or [False] * count
        self.diverged = self.diverged or [False] * count
        self.history = self.history or [[] for _ in range(count)]

    @property
    def lost(self) -> list[bool]:
        """Replicas that diverged before any of their weights were selected."""
        pairs = zip(self.diverged, self.best, strict=True)
        return [diverged and best < 0 for diverged, best in pairs]

    def count(self, losses: NDArray[np.float32], weights: NDArray[np.float32]) -> None:
        """Add the losses of some steps to those of the epoch.

        Args:
            losses: Shape [steps, replicas].
            weights: Weights of the examples: shape [steps, replicas, parts, size].
        """
        # An example's weight is 1 / the number of items that a step's loss is a mean over.
        largest = weights.max(axis=(2, 3))
        counts = np.divide(1, largest, out=np.zeros(largest.shape), where=largest > 0)
        self.losses = (losses.sum(axis=0) + self.losses).tolist()
        self.nats = ((losses * counts).sum(axis=0) + self.nats).tolist()
        self.counts = (counts.sum(axis=0) + self.counts).tolist()

    def perplexity(self, replica: int) -> float | None:
        """Return the perplexity of the current epoch; None where a part of it was not counted."""
        mean = self.nats[replica] / (self.counts[replica] or nan)
        # The mean is finite, but its exponential may overflow.
        return exp(min(mean, MOST_NATS)) if isfinite(mean) else None

    def end_epoch(self) -> None:
        """Begin the next epoch."""
        self.epoch, self.step, self.seconds = self.epoch + 1, 0, 0.0
        self.losses, self.nats, self.counts = ([0.0] * self.replicas for _ in range(3))

    @classmethod
    def read(cls, value: dict[str, Any]) -> TrainerState:
        """Return the state with these fields, as JSON has them.

        Raises:
            TypeError: a field is unknown or missing.
        """
        history = [[EpochRecord(**record) for record in replica] for replica in value["history"]]
        fields: dict[str, Any] = value | {"history": history}
        return cls(**fields)

    def divergence(self, seeds: Sequence[int]) -> Diverged:
        """Return the error that names the seeds that are lost."""
        replicas = zip(seeds, self.history, self.lost, strict=True)
        lost = [f"{seed} (epoch {len(log) + 1})" for seed, log, is_lost in replicas if is_lost]
        problem = f"the loss of seed {', '.join(lost)} is not finite"
        return Diverged(f"{problem}; try a smaller learning rate")
