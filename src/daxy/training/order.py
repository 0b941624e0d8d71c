"""In which order a run meets its examples: in passes through them all, or in draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from daxy.batching.epochs import Epoch, drawn, drawn_shapes, epoch, in_order, mixed, needs
from daxy.batching.table import Rows, Table
from daxy.training.config import TrainingConfig
from daxy.training.parts import Epochs, Samples

PARTS = 5
"""Parts of a batch of any lengths, each padded to a length of its own, at most.

More would be padded less, but leave a batch of 200 no parts that two devices can halve.
"""
LEAST = 8
"""Examples in a part at least."""


def _none() -> Rows:
    return np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What a run trains on."""

    given: Rows
    """Repeats included."""
    added: Rows = field(default_factory=_none)
    """What an augmentation made of them."""

    @cached_property
    def rows(self) -> Rows:
        """All of them."""
        return np.concatenate([self.given, self.added])

    def odds(self, share: float) -> NDArray[np.float64]:
        """Return how likely a draw is each of the rows; see `Samples.augmented_share`."""
        if not share or not len(self.added):
            return np.full(len(self.rows), 1 / len(self.rows))
        shares = [1 - share, share]
        sides = zip(shares, (self.given, self.added), strict=True)
        return np.concatenate([np.full(len(rows), own / len(rows)) for own, rows in sides])


@dataclass(frozen=True, eq=False)
class Supply:
    """What is trained on in an epoch."""

    table: Table
    train: Sequence[TrainingSet]
    """Each run's own, as rows of the table."""


@dataclass(frozen=True, eq=False)
class Order:
    """The batches of a training configuration from a table."""

    config: TrainingConfig
    table: Table

    @property
    def parts(self) -> int:
        """Equal parts of a batch that are padded apart: one where a batch is of similar lengths."""
        size = self.config.batch_size
        few = range(1, min(PARTS, size // LEAST) + 1) if self.config.total_steps else range(1, 2)
        return max((parts for parts in few if size % parts == 0), default=1)

    def epoch(self, train: TrainingSet, *, seed: int, number: int) -> Epoch:
        """Return the batches of epoch `number`, from 0, of the run with this seed."""
        config, budget, size = self.config, self.config.budget, self.config.batch_size
        rows, (sources, targets) = train.rows, self._lengths(train)
        first = number * config.epoch_steps
        left = min(config.epoch_steps, config.total_steps - first)
        if isinstance(budget, Epochs):
            made = epoch(rows, sources, size=size, seed=seed, number=number)
        elif isinstance(budget, Samples):
            made = drawn(
                rows,
                sources,
                targets,
                train.odds(budget.augmented_share),
                size=size,
                steps=left,
                seed=seed,
                number=number,
            )
        elif budget.online:
            made = in_order(rows, sources, targets, size=size)
        else:
            made = mixed(rows, sources, targets, size=size, first=first, steps=left, seed=seed)
        return self._by_tokens(made) if config.loss.token_mean_loss else made

    def needs(self, epochs: list[Epoch]) -> NDArray[np.int64]:
        """Return the longest source and target of each part of each step: [steps, parts, 2]."""
        return needs(epochs, self.table.source_lengths, self.table.target_lengths, self.parts)

    def shapes(self, train: TrainingSet) -> NDArray[np.int64]:
        """Return the longest source and target of each part of each step of a first epoch."""
        budget = self.config.budget
        if not isinstance(budget, Samples):
            return self.needs([self.epoch(train, seed=0, number=0)])
        return drawn_shapes(
            *self._lengths(train),
            train.odds(budget.augmented_share),
            size=self.config.batch_size,
            steps=self.config.epoch_steps,
            parts=self.parts,
        )

    def _by_tokens(self, made: Epoch) -> Epoch:
        """Return the batches with weights of 1 / tokens in the batch, END included."""
        is_there = made.weights > 0
        tokens = (self.table.target_lengths[made.rows] * is_there).sum(axis=1, keepdims=True)
        return replace(made, weights=(is_there / tokens).astype(np.float32))

    def _lengths(self, train: TrainingSet) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self.table.source_lengths[train.rows], self.table.target_lengths[train.rows]
