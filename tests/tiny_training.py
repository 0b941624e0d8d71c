"""A fast training: 22 examples, 6 hidden units, one padded shape."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from daxy.batching.epochs import Bucket
from daxy.batching.table import Table
from daxy.core.examples import Examples
from daxy.models.seq2seq import Config
from daxy.training.checkpoint import Checkpoint
from daxy.training.config import TrainingConfig
from daxy.training.evaluation import EvalResult, EvalSet
from daxy.training.loop import Training
from daxy.training.placement import Placement, Program, ShardedState, merged
from daxy.training.replicas import Replicas
from daxy.training.sampler import EpochData, TrainingSet
from daxy.training.step import State, Steps
from daxy.training.trainer_state import TrainerState

TRAIN, VALIDATION = 18, 4
BATCH = 4
STEPS = 5
"""Batches in an epoch; the last one holds two examples."""
CONFIG = Config(hidden=6, embedding=4)


@cache
def examples() -> Examples:
    """Return pairs of one to four letters and, doubled, their capitals."""
    draws = np.random.default_rng(0)
    sources = {tuple(draws.choice(list("abcd"), draws.integers(1, 5))) for _ in range(60)}
    chosen = sorted(sources)[: TRAIN + VALIDATION]
    return Examples.of((source, [c.upper() for c in source for _ in "12"]) for source in chosen)


@cache
def table() -> Table:
    return Table.of([examples()])


class Tiny(Replicas):
    """Replicas that share programs and first weights: compiling is most of a short training.

    Neither depends on the budget, the schedule, the selection or the learning rate.
    """

    @property
    def _shared(self) -> Tiny:
        optimizer = replace(self.training.optimizer, learning_rate=0.2)
        usual = TrainingConfig()
        parts = {"budget": usual.budget, "schedule": usual.schedule, "selection": usual.selection}
        return replicas(
            self.seeds, replace(self.training, optimizer=optimizer, **parts), self.config
        )

    @cached_property
    def _programs(self) -> list[Program]:
        return super()._programs if self._shared is self else self._shared._programs

    @cached_property
    def placement(self) -> Placement:
        return super().placement if self._shared is self else self._shared.placement

    @cached_property
    def _first(self) -> State:
        return jax.device_get(merged(super().start()))

    def start(self) -> ShardedState:
        return self.placed(self._shared._first)


@cache
def replicas(
    seeds: tuple[int, ...], training_config: TrainingConfig, config: Config = CONFIG
) -> Tiny:
    """Return a cached group of replicas, with its compiled programs."""
    codes = table()
    shape = Bucket(codes.source.shape[1], codes.target.shape[1])
    return Tiny("seq2seq", config, training_config, codes, (shape,), seeds)


def idle(steps: int, replicas: int) -> Steps:
    """Return inactive steps, with weights of NaN."""
    return Steps(
        bucket=jnp.zeros((steps, 1), int),
        rows=jnp.zeros((steps, replicas, 1, BATCH), int),
        weights=jnp.full((steps, replicas, 1, BATCH), jnp.nan),
        number=jnp.arange(steps),
        active=jnp.zeros((steps, replicas), bool),
        learning_rate=jnp.full((steps, replicas), 0.2),
    )


def scripted(*scores: Sequence[float]) -> Callable[[int, Any], EvalResult]:
    """Return a score function with these scores of each replica, by epoch."""
    left = [iter(replica_scores) for replica_scores in scores]
    return lambda replica, codes: EvalResult(next(left[replica]), {})


def unmoved(replica: int, codes: Any) -> EvalResult:
    """Return the same score for every network."""
    return EvalResult(0.5, {})


def training(
    seeds: Sequence[int] = (0,),
    validate: Callable[[int, Any], EvalResult] | None = unmoved,
    checkpoint: Checkpoint | None = None,
    config: Config = CONFIG,
    checkpoint_seconds: float = 0.0,
    test: EvalSet | None = None,
    **settings: Any,
) -> Training:
    """Return the training of these seeds, without a validation set if `validate` is None."""
    default = TrainingConfig().with_settings(batch_size=BATCH, max_decode_length=4, epochs=3)
    training_config = default.with_settings(**settings)
    rows = table().rows(examples())
    held_out = rows[TRAIN:] if validate else rows[:0]
    return Training(
        replicas=replicas(tuple(seeds), training_config, config),
        data=lambda _: EpochData(table(), [TrainingSet(rows[:TRAIN])] * len(seeds)),
        validation=EvalSet([held_out] * len(seeds), validate or unmoved),
        test=test,
        checkpoint=checkpoint,
        checkpoint_seconds=checkpoint_seconds,
    )


@contextmanager
def last_diverges() -> Generator[None]:
    """Make the loss of each group's last replica NaN in the second epoch."""
    run = Replicas.run

    def losing(
        replicas: Replicas, shares: ShardedState, steps: Steps, *on: Any
    ) -> tuple[ShardedState, Any]:
        shares, losses = run(replicas, shares, steps, *on)
        if steps.number[0] >= STEPS:
            losses[:, -1] = np.nan
        return shares, losses

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Replicas, "run", losing)
        yield


@dataclass
class Listener:
    """Records its calls; may send this process a signal at one of them."""

    stop_at: int | None = None
    number: signal.Signals = signal.SIGINT
    calls: int = 0
    steps: list[tuple[int, int, int]] = field(default_factory=list)
    """Epoch, finished steps of the epoch and examples, by dispatch."""
    epochs: list[int] = field(default_factory=list)

    def stepped(self, position: TrainerState, steps: int, examples: int) -> None:
        self.steps.append((position.epoch, position.step, examples))
        self._count()

    def epoch_ended(self, position: TrainerState) -> None:
        self.epochs.append(position.epoch)
        self._count()

    def _count(self) -> None:
        self.calls += 1
        if self.calls == self.stop_at:
            os.kill(os.getpid(), self.number)


def bits(tree: Any) -> list[bytes]:
    """Return the bytes of each array."""
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]


def largest_difference(one: Any, other: Any) -> float:
    def largest(a: Any, b: Any) -> float:
        return float(np.abs(np.asarray(a) - np.asarray(b)).max())  # they may be on other devices

    differences = jax.tree.map(largest, one, other)
    return max(jax.tree.leaves(differences))
