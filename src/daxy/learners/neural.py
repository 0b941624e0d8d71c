"""A network with its training protocol as a learner: one group of replicas at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daxy import models
from daxy.batching.epochs import choose_buckets
from daxy.batching.table import Table
from daxy.core.errors import require
from daxy.core.examples import Examples, Sequences
from daxy.core.settings import made, stated
from daxy.core.split import Split
from daxy.training.checkpoint import Arrays, Checkpoint, named_arrays
from daxy.training.loop import EpochRecord, Listener, Position, Training, one_replica
from daxy.training.order import Order
from daxy.training.protocol import Protocol
from daxy.training.replicas import Replicas, State

BUCKETS = 4
"""Padded shapes of one program: with 4, SCAN's batches are padded by 5% of their tokens."""

Score = Callable[[Examples, Sequences], float]
"""score(examples, predictions) -> the figure that selects a network's best weights."""


@dataclass(frozen=True, kw_only=True)
class Neural:
    """An architecture, its configuration and how it is trained."""

    model: str
    config: Any
    protocol: Protocol

    def __post_init__(self) -> None:
        is_fed = self.protocol.teacher_forcing == 1 or hasattr(models.get(self.model).Model, "fed")
        require(is_fed, f"{self.model} cannot be fed its own outputs; teacher-forcing must be 1")

    def settings(self) -> dict[str, Any]:
        """Return everything that decides what this learner learns, as JSON values."""
        return {
            "model": self.model,
            "config": stated(self.config),
            "protocol": stated(self.protocol),
        }

    def fit(
        self,
        split: Split,
        seeds: Sequence[int],
        *,
        score: Score,
        listener: Listener,
        checkpoint: Checkpoint | None = None,
        checkpoint_seconds: float = 30.0,
    ) -> Fitted:
        """Train one network a seed, side by side; each keeps its best weights on validation.

        Raises:
            Interrupted: by a signal, after the state was saved in the checkpoint.
            RunFailed: the checkpoint is damaged or cannot be written.
        """
        table = Table.of([split.train, split.validation, split.test])
        replicas = self._replicas(table, split, tuple(seeds))
        train, validation = table.rows(split.train), table.rows(split.validation)

        def validate(_: int, codes: NDArray[np.uint16]) -> float:
            return score(split.validation, table.targets.decode(codes))

        training = Training(
            replicas=replicas,
            train=[train] * len(seeds),
            validation=[validation] * len(seeds),
            validate=validate,
            checkpoint=checkpoint,
            checkpoint_seconds=checkpoint_seconds,
        )
        state, position = training.fit(listener)
        return Fitted(replicas, state, position)

    def _replicas(self, table: Table, split: Split, seeds: tuple[int, ...]) -> Replicas:
        rows = table.rows(split.train)
        shapes = Order(self.protocol, table).shapes(rows)
        limits = int(table.source_lengths[rows].max()), int(table.target_lengths[rows].max())
        buckets = choose_buckets(shapes, limits, BUCKETS)
        return Replicas(self.model, self.config, self.protocol, table, tuple(buckets), seeds)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained group; its networks are asked together."""

    replicas: Replicas
    state: State
    position: Position

    def predict(self, examples: Examples) -> list[Sequences]:
        """Return each network's greedy outputs for examples of the split it was fitted on."""
        rows = self.replicas.table.rows(examples)
        codes = self.replicas.decode(self.state.best, [rows] * len(self.replicas.seeds))
        return [self.replicas.table.targets.decode(own) for own in codes]

    def weights(self, replica: int) -> Arrays:
        """Return one network's best weights by name."""
        return named_arrays(one_replica(self.state.best, replica))

    def history(self, replica: int) -> list[EpochRecord]:
        """Return what each epoch of one network came to."""
        return self.position.history[replica]


def learner(model: str, config: dict[str, Any], protocol: Protocol) -> Neural:
    """Return the learner with these settings; what `config` leaves out has its default.

    Raises:
        UnknownName: there is no such architecture, or it has no such setting.
        WrongRequest: a value that the architecture does not take.
    """
    settings = made(models.get(model).Config, config, of=f"model {model}")
    return Neural(model=model, config=settings, protocol=protocol)
