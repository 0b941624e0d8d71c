"""In which order a run meets its examples: in passes through them all, or in draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daxy.batching.epochs import Epoch, drawn, drawn_shapes, epoch, needs
from daxy.batching.table import Rows, Table
from daxy.training.protocol import Protocol


@dataclass(frozen=True, eq=False)
class Order:
    """The batches of a recipe from a table."""

    protocol: Protocol
    table: Table

    def epoch(self, rows: Rows, *, seed: int, number: int) -> Epoch:
        """Return the batches of epoch `number`, from 0, of the run with this seed."""
        size, steps, each = self.protocol.batch_size, self.protocol.steps, self.protocol.epoch_steps
        sources, targets = self._lengths(rows)
        if steps == 0:
            return epoch(rows, sources, size=size, seed=seed, number=number)
        left = min(each, steps - number * each)
        return drawn(rows, sources, targets, size=size, steps=left, seed=seed, number=number)

    def shapes(self, rows: Rows) -> NDArray[np.int64]:
        """Return the longest source and target of each step of the first epoch, for any seeds."""
        if self.protocol.steps == 0:
            first = self.epoch(rows, seed=0, number=0)
            return needs([first], self.table.source_lengths, self.table.target_lengths)
        size, steps = self.protocol.batch_size, self.protocol.epoch_steps
        return drawn_shapes(*self._lengths(rows), size=size, steps=steps)

    def _lengths(self, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self.table.source_lengths[rows], self.table.target_lengths[rows]
