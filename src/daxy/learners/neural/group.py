"""A group of networks that train as one program."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from daxy.batching.epochs import Bucket, choose_buckets, widest
from daxy.core.errors import DaxyError, require
from daxy.learners._learner import Callbacks, Fit, Job
from daxy.learners.neural.epoch_data import GroupData
from daxy.learners.neural.fitted import FittedGroup, ReplicaPredictor
from daxy.learners.neural.network import Network, network_of
from daxy.learners.neural.progress import CallbackAdapter
from daxy.training.backend import backend
from daxy.training.checkpoint import Checkpoint
from daxy.training.config import TrainingConfig
from daxy.training.loop import Training, TrainingCallback
from daxy.training.parts import Plateau
from daxy.training.placement import merged
from daxy.training.replicas import Replicas
from daxy.training.sampler import BatchSampler

BUCKETS = 4
"""Padded shapes of one program. With 4, 5% of the tokens of SCAN's batches are padding."""
BUCKETS_OF_PARTS = 8
"""Padded shapes if a batch is padded in parts."""
NO_LIMIT = 2**31 - 1
SAMPLE = 256
"""Examples to decode for an estimate of the decoding time."""


@dataclass(frozen=True, eq=False)
class ReplicaGroup:
    """Networks that train as one program, each on its own data.

    They may differ in seed, dropout, learning rate and split; all splits have the same
    vocabularies.
    """

    jobs: Sequence[Job]

    @cached_property
    def network(self) -> Network:
        """The settings that all networks share, without dropout and learning rate."""
        (shape,) = {network_of(job).shape for job in self.jobs}
        return shape

    @property
    def _config(self) -> TrainingConfig:
        return self.network.training

    @cached_property
    def data(self) -> GroupData:
        """The data of all networks."""
        return GroupData(self.jobs, self.network)

    @backend()
    def check(self) -> None:
        """Refuse a group that cannot be trained.

        Raises:
            WrongRequest: see `training`.
        """
        _ = self.training

    def fit(self, callbacks: Callbacks) -> Iterator[Fit | DaxyError]:
        """Train every network, then yield the result of each; see `Learner.fit`.

        The predictor has the selected weights. If a network diverged before any weights were
        selected, its result is an error.
        """
        adapter = CallbackAdapter(self._config, callbacks)
        fitted = self.train(adapter)
        adapter.update(fitted.trainer)
        error = fitted.trainer.divergence([job.seed for job in self.jobs])
        for replica, is_lost in enumerate(fitted.trainer.lost):
            if is_lost:
                yield error
                continue
            yield Fit(
                predictor=ReplicaPredictor(fitted, replica),
                log=adapter.logs[replica],
                facts=fitted.facts(replica),
            )

    @backend()
    def train(self, callback: TrainingCallback) -> FittedGroup:
        """Train every network.

        Raises:
            Interrupted: by a signal, after the state was saved in the checkpoint.
            RunFailed: the checkpoint is damaged or cannot be written.
        """
        first, names = self.jobs[0], tuple(job.name for job in self.jobs)
        every = first.test_every
        training = replace(
            self.training,
            test=self.data.eval_set("test", every=every) if every else None,
            checkpoint=Checkpoint.within(first.workdir, names),
            checkpoint_seconds=first.checkpoint_seconds,
        )
        state, trainer = training.fit(callback)
        return FittedGroup(self.jobs, training.replicas, state, trainer)

    @cached_property
    def training(self) -> Training:
        """The training of the group, ready to begin.

        Raises:
            WrongRequest: the schedule needs validation scores, and there is no validation set; or
                an augmentation finds nothing to add.
        """
        has_validation = all(len(job.split.validation) for job in self.jobs)
        needs_validation = isinstance(self._config.schedule, Plateau)
        problem = "schedule plateau needs a validation set, and there is none"
        require(has_validation or not needs_validation, f"{problem}; expected another schedule")
        max_examples = self._config.selection.validation_examples
        return Training(
            replicas=self._replicas,
            data=self.data.epoch,
            validation=self.data.eval_set("validation", max_examples=max_examples),
        )

    @cached_property
    def _replicas(self) -> Replicas:
        configs = [network_of(job).training for job in self.jobs]
        return Replicas(
            architecture=self.network.model,
            config=self.network.config,
            training=self._config,
            table=self.data.table,
            buckets=self._buckets(),
            seeds=tuple(job.seed for job in self.jobs),
            dropout=tuple(config.dropout for config in configs),
            learning_rates=tuple(config.optimizer.learning_rate for config in configs),
        )

    def _buckets(self) -> tuple[Bucket, ...]:
        """Return the padded shapes of the training batches."""
        epoch = self.data.epoch(0)
        table, sampler = epoch.table, BatchSampler(self._config, epoch.table)
        rows = np.concatenate([train.rows for train in epoch.train])
        limits = int(table.source_lengths[rows].max()), int(table.target_lengths[rows].max())
        shapes = widest([sampler.shapes(train) for train in self.data.distinct(epoch)])
        count = BUCKETS if sampler.parts == 1 else BUCKETS_OF_PARTS
        buckets = choose_buckets(shapes, limits, count)
        if self._config.online:
            # A later epoch may have longer examples than the first.
            buckets[-1] = Bucket(NO_LIMIT, NO_LIMIT)
        return tuple(buckets)

    @backend()
    def seconds(self, sample: float = 3.0, *, epochs_done: int = 0) -> float:
        """Return an upper estimate of the seconds of `fit` and of decoding the test sets.

        Some steps and some examples are timed. The compiled training program is kept for `fit`.

        Args:
            sample: Seconds to train for.
            epochs_done: Epochs that have ended already.
        """
        compilation, step = self.training.pace(sample)
        decoder_compilation, example = self._decoding_pace()
        epochs = self._config.max_epochs
        steps = step * self.training.steps * (epochs - epochs_done) / epochs
        return compilation + steps + decoder_compilation + example * self._decoded(epochs_done)

    def _decoding_pace(self) -> tuple[float, float]:
        """Return the seconds of the first decoding, with compilation, and of an example."""
        rows = [self.data.table.rows(job.split.test)[:SAMPLE] for job in self.jobs]
        model = merged(self._replicas.start()).model

        def decode() -> float:
            began = time.monotonic()
            self._replicas.decode(model, rows)
            return time.monotonic() - began

        return decode(), decode() / max(1, *map(len, rows))

    def _decoded(self, epochs_done: int) -> int:
        """Return the number of examples that are still to be decoded, of the largest sets."""
        epochs = self._config.max_epochs
        every = self.jobs[0].test_every or epochs + 1
        tests = 1 + epochs // every - epochs_done // every
        validation = max(len(rows) for rows in self.training.validation.rows)
        largest = max(len(job.split.test) for job in self.jobs)
        return tests * largest + (epochs - epochs_done) * validation
