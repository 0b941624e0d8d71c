"""Batches of a training configuration: in which order a run meets its examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from daxy.batching import epochs
from daxy.batching.epochs import Epoch
from daxy.batching.table import Rows, Table
from daxy.training.config import TrainingConfig
from daxy.training.parts import Epochs, Samples

PARTS = 5
"""Maximum parts of a batch of any lengths, each padded to a length of its own.

More would be padded less, but leave a batch of 200 no parts that two devices can halve.
"""
LEAST = 8
"""Minimum examples of a part."""


def _none() -> Rows:
    return np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Training examples of one run, as rows of a table."""

    original: Rows
    """Examples of the split, repeats included."""
    augmented: Rows = field(default_factory=_none)
    """Examples that an augmentation added."""

    @cached_property
    def rows(self) -> Rows:
        """All rows."""
        return np.concatenate([self.original, self.augmented])

    def odds(self, share: float) -> NDArray[np.float64]:
        """Return the probability of each row in a draw; see `Samples.augmented_share`."""
        if not share or not len(self.augmented):
            return np.full(len(self.rows), 1 / len(self.rows))
        pairs = ((1 - share, self.original), (share, self.augmented))
        return np.concatenate([np.full(len(rows), part / len(rows)) for part, rows in pairs])


@dataclass(frozen=True, eq=False)
class EpochData:
    """Training examples of an epoch."""

    table: Table
    train: Sequence[TrainingSet]
    """The training set of each run."""


@dataclass(frozen=True, eq=False)
class BatchSampler:
    """The batches of a training configuration from a table."""

    config: TrainingConfig
    table: Table

    @property
    def parts(self) -> int:
        """Equal parts of a batch that are padded separately; 1 where lengths are similar."""
        size = self.config.batch_size
        most = min(PARTS, size // LEAST) if self.config.total_steps else 1
        return max((parts for parts in range(1, most + 1) if size % parts == 0), default=1)

    def epoch(self, train: TrainingSet, *, seed: int, number: int) -> Epoch:
        """Return the batches of epoch `number`, from 0, of the run with this seed."""
        config, budget, size = self.config, self.config.budget, self.config.batch_size
        rows, (sources, targets) = train.rows, self._lengths(train)
        first = number * config.epoch_steps
        steps = min(config.epoch_steps, config.total_steps - first)
        if isinstance(budget, Epochs):
            batches = epochs.bucketed(rows, sources, size=size, seed=seed, number=number)
        elif isinstance(budget, Samples):
            odds = train.odds(budget.augmented_share)
            batches = epochs.sampled_with_replacement(
                rows, sources, targets, odds, size=size, steps=steps, seed=seed, number=number
            )
        elif budget.online:
            batches = epochs.sequential(rows, sources, targets, size=size)
        else:
            batches = epochs.shuffled(
                rows, sources, targets, size=size, first=first, steps=steps, seed=seed
            )
        return self._by_tokens(batches) if config.loss.token_mean_loss else batches

    def needs(self, batches: list[Epoch]) -> NDArray[np.int64]:
        """Return the longest source and target of each part of each step: [steps, parts, 2]."""
        table = self.table
        return epochs.needs(batches, table.source_lengths, table.target_lengths, self.parts)

    def shapes(self, train: TrainingSet) -> NDArray[np.int64]:
        """Return the longest source and target of each part of each step of a first epoch."""
        budget = self.config.budget
        if not isinstance(budget, Samples):
            return self.needs([self.epoch(train, seed=0, number=0)])
        return epochs.sampled_shapes(
            *self._lengths(train),
            train.odds(budget.augmented_share),
            size=self.config.batch_size,
            steps=self.config.epoch_steps,
            parts=self.parts,
        )

    def _by_tokens(self, batches: Epoch) -> Epoch:
        """Return the batches with weights of 1 / tokens in the batch, END included."""
        is_example = batches.weights > 0
        lengths = self.table.target_lengths[batches.rows]
        tokens = (lengths * is_example).sum(axis=1, keepdims=True)
        return replace(batches, weights=(is_example / tokens).astype(np.float32))

    def _lengths(self, train: TrainingSet) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self.table.source_lengths[train.rows], self.table.target_lengths[train.rows]
