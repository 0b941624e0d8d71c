"""The training loop: epochs of steps, an evaluation after each, selection of the best weights."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import cycle
from typing import Any, Protocol, runtime_checkable

import jax
import numpy as np
from numpy.typing import NDArray

from daxy.batching.epochs import Epoch, assign, in_parts
from daxy.training.backend import backend
from daxy.training.checkpoint import Checkpoint, damaged
from daxy.training.evaluation import EvalResult, EvalSet
from daxy.training.interrupt import Interrupted, StopRequest, stop_request
from daxy.training.placement import DeviceTables, ShardedState, merged
from daxy.training.replicas import Replicas
from daxy.training.sampler import BatchSampler, EpochData
from daxy.training.schedule import has_converged, learning_rate
from daxy.training.step import State, Steps
from daxy.training.trainer_state import EpochRecord, TrainerState

STEPS_PER_DISPATCH = 32
"""Steps in one dispatch to the device."""
TIMED_DISPATCHES = 64
"""Different dispatches that `Training.pace` times; then it repeats them."""


@runtime_checkable
class TrainingCallback(Protocol):
    """Callbacks of a training."""

    def stepped(self, trainer: TrainerState, steps: int, examples: int) -> None:
        """Some steps ended, of `steps` in this epoch, with `examples` of all replicas."""
        ...

    def epoch_ended(self, trainer: TrainerState) -> None:
        """An epoch ended; its records are the last of each replica's history."""
        ...


class _Stopped(Exception):  # noqa: N818
    """Training was asked to stop while outputs were decoded."""


@dataclass(frozen=True, eq=False)
class _Epoch:
    """The batches of an epoch of all replicas."""

    orders: list[Epoch]
    """The batches of each replica."""
    buckets: NDArray[np.int32]
    """Index of the padded shape of each part of each step: [steps, parts]."""
    tables: DeviceTables

    def __len__(self) -> int:
        return len(self.buckets)

    @property
    def parts(self) -> int:
        return self.buckets.shape[1]


@dataclass(frozen=True, eq=False)
class Training:
    """The training of a group of replicas on their data."""

    replicas: Replicas
    data: Callable[[int], EpochData]
    """data(epoch) -> training examples of an epoch, counted from 0."""
    validation: EvalSet
    """The validation sets, for selection; without rows where there are none."""
    test: EvalSet | None = None
    """The test sets, for the log alone."""
    checkpoint: Checkpoint | None = None
    checkpoint_seconds: float = 30.0
    """Seconds between two checkpoints."""

    @backend()
    def fit(self, callback: TrainingCallback) -> tuple[State, TrainerState]:
        """Train to the end, from the checkpoint if there is one; return the final state.

        The result does not depend on how often training was interrupted.

        Raises:
            Interrupted: by a signal, after the state was saved.
            RunFailed: a checkpoint is damaged or cannot be written.
            Diverged: every replica does, before any weights are selected.
        """
        first, trainer = self._resume()
        state = first
        with stop_request() as request:

            def stop_if_asked() -> None:
                if request.received:
                    raise _Stopped

            saved = time.monotonic()
            try:
                for state in self._dispatches(first, trainer, callback, stop_if_asked):
                    due = time.monotonic() - saved >= self.checkpoint_seconds
                    if due or request.received:
                        self._save(state, trainer)
                        saved = time.monotonic()
                    self._interrupt(request)
            except _Stopped:
                # The epoch's steps have ended, its evaluation has not: resuming begins with that.
                self._save(state, trainer)
                self._interrupt(request)
            self._save(state, trainer)
            self._interrupt(request)
        return merged(state), trainer

    @property
    def steps(self) -> int:
        """Steps of the whole training, unless replicas stop earlier."""
        return self._steps_of(len(self._epoch(0)))

    def _steps_of(self, epoch_steps: int) -> int:
        config = self.replicas.training
        return config.total_steps or config.max_epochs * epoch_steps

    @backend()
    def pace(self, seconds: float) -> tuple[float, float]:
        """Return the seconds of the first dispatch, with compilation, and of each later step.

        Steps are taken for about so many seconds; their results are dropped.
        """
        state, times, taken = self.replicas.start(), list[float](), 0
        epoch = self._epoch(0)
        for steps in cycle(self._first_steps(epoch, TIMED_DISPATCHES)):
            began = time.monotonic()
            state, _ = self.replicas.run(state, steps, epoch.tables)
            times.append(time.monotonic() - began)
            taken += int(steps.active.any(axis=1).sum()) if len(times) > 1 else 0
            if sum(times[1:]) >= seconds and len(times) > 2:
                break
        return times[0], sum(times[1:]) / taken

    def first_steps(self, count: int) -> list[Steps]:
        """Return the first dispatches of the training, at most those of the first epoch."""
        return self._first_steps(self._epoch(0), count)

    def _first_steps(self, epoch: _Epoch, count: int) -> list[Steps]:
        trainer, dispatches = TrainerState(len(self.replicas.seeds)), list[Steps]()
        while len(dispatches) < count and trainer.step + STEPS_PER_DISPATCH <= len(epoch):
            dispatches.append(self._steps(epoch, trainer))
            trainer.step += STEPS_PER_DISPATCH
            trainer.total += STEPS_PER_DISPATCH
        return dispatches or [self._steps(epoch, trainer)]

    def _resume(self) -> tuple[ShardedState, TrainerState]:
        saved = self.checkpoint.load(self.replicas.shapes) if self.checkpoint else None
        if saved is None:
            return self.replicas.start(), TrainerState(len(self.replicas.seeds))
        state, trainer = saved
        try:
            return self.replicas.placed(state), TrainerState.read(trainer)
        except TypeError as error:
            assert self.checkpoint is not None
            problem = f"it was written by another program ({error})"
            raise damaged(self.checkpoint.path, problem) from error

    def _save(self, state: ShardedState, trainer: TrainerState) -> None:
        if self.checkpoint:
            self.checkpoint.save(merged(state), asdict(trainer))

    def _interrupt(self, request: StopRequest) -> None:
        if request.received:
            saved = "its state is saved: the same command resumes it"
            raise Interrupted(f"interrupted; {saved if self.checkpoint else 'nothing was saved'}")

    def _dispatches(
        self,
        state: ShardedState,
        trainer: TrainerState,
        callback: TrainingCallback,
        between: Callable[[], None],
    ) -> Iterator[ShardedState]:
        """Yield the state wherever training could stop and resume.

        `between` is called between two programs that decode, and may stop training there.
        """
        while trainer.epoch < self.replicas.training.max_epochs and not all(trainer.stopped):
            began = time.monotonic()
            epoch = self._epoch(trainer.epoch)
            trainer.seconds += time.monotonic() - began
            while trainer.step < len(epoch):
                began = time.monotonic()
                steps = self._steps(epoch, trainer)
                state, losses = self.replicas.run(state, steps, epoch.tables)
                trainer.count(losses, np.asarray(steps.weights))
                done = min(STEPS_PER_DISPATCH, len(epoch) - trainer.step)
                trainer.step += done
                trainer.total += done
                trainer.seconds += time.monotonic() - began
                weights = np.asarray(steps.weights)[np.asarray(steps.active)]
                callback.stepped(trainer, len(epoch), int((weights > 0).sum()))
                yield state
            state = self._end_epoch(state, trainer, epoch, between)
            callback.epoch_ended(trainer)
            yield state

    def _epoch(self, number: int) -> _Epoch:
        data = self.data(number)
        sampler = BatchSampler(self.replicas.training, data.table)
        pairs = zip(data.train, self.replicas.seeds, strict=True)
        orders = [sampler.epoch(train, seed=seed, number=number) for train, seed in pairs]
        buckets = assign(sampler.needs(orders), self.replicas.buckets)
        return _Epoch(orders, buckets, self.replicas.tables(data.table))

    def _steps(self, epoch: _Epoch, trainer: TrainerState) -> Steps:
        """Return the next steps, padded with inactive ones to the number that was compiled."""
        first, count = trainer.step, STEPS_PER_DISPATCH
        numbers = np.arange(trainer.total, trainer.total + count)

        def stacked(columns: list[NDArray[Any]]) -> NDArray[Any]:
            return np.stack(
                [in_parts(_window(column, first), epoch.parts) for column in columns], axis=1
            )

        weights = stacked([order.weights for order in epoch.orders])
        rates = [self._learning_rates(trainer, epoch, step) for step in numbers.tolist()]
        # An infinite rate makes the run diverge, which is reported.
        with np.errstate(over="ignore"):
            rate = np.array(rates, np.float32)
        return Steps(
            bucket=_window(epoch.buckets, first),
            rows=stacked([order.rows for order in epoch.orders]),
            weights=weights,
            number=numbers.astype(np.int32),
            active=(weights > 0).any(axis=(2, 3)) & ~np.asarray(trainer.stopped),
            learning_rate=rate,
        )

    def _learning_rates(self, trainer: TrainerState, epoch: _Epoch, steps: int) -> list[float]:
        """Return every replica's learning rate after so many steps."""
        total = self._steps_of(len(epoch))
        return [
            learning_rate(
                config,
                epochs=trainer.epoch,
                steps=steps,
                total_steps=total,
                scores=[record.validation for record in history],
            )
            for config, history in zip(self.replicas.configs, trainer.history, strict=True)
        ]

    def _end_epoch(
        self, state: ShardedState, trainer: TrainerState, epoch: _Epoch, between: Callable[[], None]
    ) -> ShardedState:
        """Evaluate, select and record an epoch; return the state with the selected weights.

        Decoding may be interrupted and repeated: until all outputs are scored, nothing of `trainer`
        changes that repeating would change otherwise.
        """
        self._stop_diverged(state, trainer)
        none: list[EvalResult | None] = [None] * trainer.replicas
        validation = self._evaluate(state, trainer, self.validation, between)
        test = self._evaluate(state, trainer, self.test, between) if self.test else none
        rates = self._learning_rates(trainer, epoch, trainer.total)
        measures_perplexity = self.replicas.training.loss.is_perplexity
        improved = np.zeros(trainer.replicas, np.bool_)
        for replica in np.flatnonzero(~np.asarray(trainer.stopped)).tolist():
            perplexity = trainer.perplexity(replica) if measures_perplexity else None
            score = _score(validation[replica])
            improved[replica] = self._select(trainer, replica, score, perplexity)
            record = EpochRecord(
                epoch=trainer.epoch + 1,
                steps=trainer.total,
                loss=trainer.losses[replica] / len(epoch.orders[replica]),
                validation=score,
                best_epoch=trainer.best_epoch[replica],
                learning_rate=rates[replica],
                seconds=trainer.seconds,
                perplexity=perplexity,
                test=_score(test[replica]),
                tests=_tests(test[replica]),
            )
            trainer.history[replica].append(record)
            trainer.stopped[replica] = self._should_stop(trainer, replica)
        trainer.end_epoch()
        return self.replicas.keep_best(state, improved)

    def _select(
        self, trainer: TrainerState, replica: int, score: float | None, perplexity: float | None
    ) -> bool:
        """Return whether the replica's weights are the best so far; a tie keeps the earlier."""
        select = self.replicas.training.selection.select
        value = score if select == "best" else None
        if select == "perplexity" and perplexity is not None:
            value = 1 / perplexity
        is_best = value is None or value > trainer.best[replica]
        if is_best:
            trainer.best[replica] = -1.0 if value is None else value
            trainer.best_epoch[replica] = trainer.epoch + 1
        return is_best

    def _should_stop(self, trainer: TrainerState, replica: int) -> bool:
        """Return whether the replica cannot improve any more, or has converged."""
        # Nothing can beat a perfect score, and a tie keeps the earlier: stopping is exact.
        perplexities = [
            record.perplexity for record in trainer.history[replica] if record.perplexity
        ]
        patience = self.replicas.training.selection.early_stopping
        return trainer.best[replica] >= 1.0 or has_converged(patience, perplexities)

    def _stop_diverged(self, state: ShardedState, trainer: TrainerState) -> None:
        """Stop replicas whose loss or weights are NaN or infinite.

        A loss is that of the weights before its step, so the last step shows in the weights alone.

        Raises:
            Diverged: all do, and none has weights that were selected before.
        """
        finite = np.isfinite(trainer.losses) & self.replicas.finite(state)
        for replica in np.flatnonzero(~finite).tolist():
            trainer.diverged[replica] = trainer.stopped[replica] = True
        if all(trainer.lost):
            raise trainer.divergence(self.replicas.seeds)

    def _evaluate(
        self,
        state: ShardedState,
        trainer: TrainerState,
        examples: EvalSet,
        between: Callable[[], None],
    ) -> list[EvalResult | None]:
        """Return the scores of each replica; None without rows, and where none are due."""
        rows = examples.rows_after(trainer.epoch + 1, trainer.stopped)
        if not any(map(len, rows)):
            return [None] * len(rows)
        models = merged([group.model for group in state])
        codes = self.replicas.decode(models, rows, between)
        return [
            examples.score_fn(replica, outputs) if len(outputs) else None
            for replica, outputs in enumerate(codes)
        ]


def _score(result: EvalResult | None) -> float | None:
    return None if result is None else result.score


def _tests(result: EvalResult | None) -> dict[str, float]:
    return {} if result is None else result.tests


def _window(values: NDArray[Any], first: int) -> NDArray[Any]:
    """Return STEPS_PER_DISPATCH entries from `first` on, zeros after the last one."""
    part = values[first : first + STEPS_PER_DISPATCH]
    missing = STEPS_PER_DISPATCH - len(part)
    return np.pad(part, ((0, missing), *[(0, 0)] * (part.ndim - 1)))


def one_replica(tree: Any, replica: int) -> Any:
    """Return one replica's slice of a nest of arrays."""
    return jax.tree.map(lambda leaf: leaf[replica], tree)
