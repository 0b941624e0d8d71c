"""The one training loop: epochs of steps, validation after each, the best weights kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import cycle
from math import exp, isfinite, nan
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import numpy as np
from numpy.typing import NDArray

from daxy.batching.epochs import Epoch, assign, in_parts
from daxy.batching.table import Rows
from daxy.core.errors import Diverged
from daxy.training.backend import backend
from daxy.training.checkpoint import Checkpoint, damaged
from daxy.training.config import TrainingConfig
from daxy.training.interrupt import Interrupted, StopRequest, stop_request
from daxy.training.order import Order, Supply
from daxy.training.replicas import Placed, Replicas, Shares, State, Steps, merged
from daxy.training.schedule import has_converged, learning_rate

STEPS_TOGETHER = 32
"""Steps in one dispatch to the device."""

MOST_NATS = 100.0
"""The logarithm of the greatest perplexity that is told apart from greater ones."""


MOST_TRIED = 64
"""Stretches that are tried to find out how fast training is; then they are tried again."""


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """What one epoch of one replica came to: a line of `log.jsonl`."""

    epoch: int
    """Counted from 1."""
    steps: int
    """Since training began."""
    loss: float
    """Mean over the epoch's steps."""
    validation: float | None
    """Score on the validation set; None where there is none."""
    best_epoch: int
    learning_rate: float
    """Of this epoch; with `decay_steps`, of the step after it."""
    seconds: float
    """Of this epoch, all replicas of the group together, without validation and interruptions."""
    perplexity: float | None = None
    """Of a target token, over the epoch's training examples as they were met; None where the loss
    is no mean over all tokens."""
    test: float | None = None
    """Score on the test set of the weights as they are after this epoch, where it was asked for: to
    look at. Nothing is chosen by it."""
    tests: dict[str, float] = field(default_factory=dict[str, float])
    """The same of each of several tests, by its name."""


@dataclass(slots=True)
class Position:
    """Where a group stands: with the state on the device, all that the rest depends on."""

    replicas: int
    epoch: int = 0
    """Epochs that have ended."""
    step: int = 0
    """Steps of the current epoch that are done; 0 once it has ended."""
    total: int = 0
    """Steps since training began."""
    seconds: float = 0.0
    """Spent on the current epoch's steps."""
    losses: list[float] = field(default_factory=list[float])
    """Sum over the current epoch's steps, a replica each."""
    nats: list[float] = field(default_factory=list[float])
    """The same with each step counted as often as there is what its loss is a mean over."""
    counts: list[float] = field(default_factory=list[float])
    """How much of that there was."""
    best: list[float] = field(default_factory=list[float])
    """What is best of what weights are selected by, a replica each; -1 before the first."""
    best_epoch: list[int] = field(default_factory=list[int])
    stopped: list[bool] = field(default_factory=list[bool])
    """Replicas whose best weights can no longer change, that have converged or diverged."""
    diverged: list[bool] = field(default_factory=list[bool])
    """Those of them whose weights are no numbers any more."""
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
        """Replicas that diverged before any weights of theirs were selected."""
        pairs = zip(self.diverged, self.best, strict=True)
        return [diverged and best < 0 for diverged, best in pairs]

    @classmethod
    def read(cls, value: dict[str, Any]) -> Position:
        """Return the position whose fields, and those of its records, these JSON values are.

        Raises:
            TypeError: there are fields that are not known here.
        """
        history = [[EpochRecord(**record) for record in replica] for replica in value["history"]]
        # Earlier versions did not count these: in the epoch that is under way they are not known.
        unknown = {name: [nan] * value["replicas"] for name in ("nats", "counts")}
        fields: dict[str, Any] = unknown | value | {"history": history}
        if "lost" in fields:  # what they called it
            fields["diverged"] = fields.pop("lost")
        return cls(**fields)


@runtime_checkable
class Listener(Protocol):
    """What hears of a training's progress."""

    def stepped(self, position: Position, steps: int, examples: int) -> None:
        """Some steps were done, of `steps` in this epoch, over `examples` of all replicas."""
        ...

    def epoch_ended(self, position: Position) -> None:
        """An epoch ended; its records are the last of each replica's history."""
        ...


class Judgement(NamedTuple):
    """How good answers are."""

    score: float
    """Of all rows."""
    tests: dict[str, float]
    """Of each of several tests, by its name; none where there is one."""


class _Stopped(Exception):  # noqa: N818
    """Training was asked to stop while outputs were decoded."""


Judge = Callable[[int, NDArray[np.uint16]], Judgement]
"""judge(replica, greedy codes of its rows) -> how good they are."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Rows that networks are asked about while they train, and how good their answers are."""

    rows: Sequence[Rows]
    """Each replica's own."""
    judge: Judge
    every: int = 1
    """After every so many epochs."""


@dataclass(frozen=True, eq=False)
class _Epoch:
    """An epoch of all replicas, ready to be trained."""

    orders: list[Epoch]
    """Each replica's own."""
    buckets: NDArray[np.int32]
    """The padded shape of each part of each step: [steps, parts]."""
    placed: Placed

    def __len__(self) -> int:
        return len(self.buckets)

    @property
    def parts(self) -> int:
        return self.buckets.shape[1]


@dataclass(frozen=True, eq=False)
class Training:
    """One group of runs on its data."""

    replicas: Replicas
    supply: Callable[[int], Supply]
    """What each epoch, counted from 0, is trained on."""
    validation: Trial
    """By which weights are selected, if the recipe says so; of no rows where there are none."""
    test: Trial | None = None
    """What is only looked at."""
    checkpoint: Checkpoint | None = None
    checkpoint_seconds: float = 30.0
    """How often the state is saved: what a killed run has to do again at most."""

    @backend()
    def fit(self, listener: Listener) -> tuple[State, Position]:
        """Train to the end, from the checkpoint if there is one; return the final state.

        The result does not depend on how often it was stopped and resumed.

        Raises:
            Interrupted: by a signal, after the state was saved.
            RunFailed: a checkpoint is damaged or cannot be written.
            Diverged: every replica does, before any weights are selected.
        """
        first, position = self._resume()
        shares = first
        with stop_request() as request:

            def between_programs() -> None:
                if request.received:
                    raise _Stopped

            saved = time.monotonic()
            try:
                for shares in self._stretches(first, position, listener, between_programs):
                    due = time.monotonic() - saved >= self.checkpoint_seconds
                    if due or request.received:
                        self._save(shares, position)
                        saved = time.monotonic()
                    self._heed(request)
            except _Stopped:
                # The epoch's steps are done and its end is not: resuming begins with that end.
                self._save(shares, position)
                self._heed(request)
            self._save(shares, position)
            self._heed(request)
        return merged(shares), position

    @property
    def steps(self) -> int:
        """Steps of the whole training; fewer if every replica stops earlier."""
        config = self.replicas.training
        return config.total_steps or config.max_epochs * len(self._epoch(0))

    @backend()
    def pace(self, seconds: float) -> tuple[float, float]:
        """Return how long the first steps take, compilation included, and each of those after them.

        Steps are taken for about so many seconds, and forgotten.
        """
        shares, times, taken = self.replicas.start(), list[float](), 0
        epoch = self._epoch(0)
        for steps in cycle(self._stretches_of(epoch, MOST_TRIED)):
            began = time.monotonic()
            shares, _ = self.replicas.run(shares, steps, epoch.placed)
            times.append(time.monotonic() - began)
            taken += int(steps.active.any(axis=1).sum()) if len(times) > 1 else 0
            if sum(times[1:]) >= seconds and len(times) > 2:
                break
        return times[0], sum(times[1:]) / taken

    def stretches(self, most: int) -> list[Steps]:
        """Return the first stretches of the training, those of the first epoch at most."""
        return self._stretches_of(self._epoch(0), most)

    def _stretches_of(self, epoch: _Epoch, most: int) -> list[Steps]:
        position = self._beginning
        found = list[Steps]()
        while len(found) < most and position.step + STEPS_TOGETHER <= len(epoch):
            found.append(self._steps(epoch, position))
            position.step += STEPS_TOGETHER
            position.total += STEPS_TOGETHER
        return found or [self._steps(epoch, position)]

    @property
    def _beginning(self) -> Position:
        return Position(len(self.replicas.seeds))

    def _resume(self) -> tuple[Shares, Position]:
        found = self.checkpoint.load(self.replicas.shapes) if self.checkpoint else None
        if found is None:
            return self.replicas.start(), self._beginning
        state, position = found
        try:
            return self.replicas.placed(state), Position.read(position)
        except TypeError as error:
            assert self.checkpoint is not None
            problem = f"it was written by another program ({error})"
            raise damaged(self.checkpoint.path, problem) from error

    def _save(self, shares: Shares, position: Position) -> None:
        if self.checkpoint:
            self.checkpoint.save(merged(shares), asdict(position))

    def _heed(self, request: StopRequest) -> None:
        if request.received:
            kept = "its state is saved: the same command resumes it"
            raise Interrupted(f"interrupted; {kept if self.checkpoint else 'nothing was saved'}")

    def _stretches(
        self,
        shares: Shares,
        position: Position,
        listener: Listener,
        between: Callable[[], None],
    ) -> Iterator[Shares]:
        """Yield the state at every point where training could stop and go on.

        `between` is called between two programs that decode, and may stop training there.
        """
        while position.epoch < self.replicas.training.max_epochs and not all(position.stopped):
            began = time.monotonic()
            epoch = self._epoch(position.epoch)
            position.seconds += time.monotonic() - began
            while position.step < len(epoch):
                began = time.monotonic()
                here = self._steps(epoch, position)
                shares, losses = self.replicas.run(shares, here, epoch.placed)
                _count(position, losses, np.asarray(here.weights))
                done = min(STEPS_TOGETHER, len(epoch) - position.step)
                position.step += done
                position.total += done
                position.seconds += time.monotonic() - began
                met = np.asarray(here.weights)[np.asarray(here.active)]
                listener.stepped(position, len(epoch), int((met > 0).sum()))
                yield shares
            shares = self._end_epoch(shares, position, epoch, between)
            listener.epoch_ended(position)
            yield shares

    def _epoch(self, number: int) -> _Epoch:
        supply = self.supply(number)
        order = Order(self.replicas.training, supply.table)
        own = zip(supply.train, self.replicas.seeds, strict=True)
        orders = [order.epoch(train, seed=seed, number=number) for train, seed in own]
        buckets = assign(order.needs(orders), self.replicas.buckets)
        return _Epoch(orders, buckets, self.replicas.on_lanes(supply.table))

    def _steps(self, epoch: _Epoch, position: Position) -> Steps:
        """Return the next steps, filled up to the number that was compiled with none active."""
        first, count = position.step, STEPS_TOGETHER
        numbers = np.arange(position.total, position.total + count)

        def stacked(columns: list[NDArray[Any]]) -> NDArray[Any]:
            return np.stack([in_parts(_window(own, first), epoch.parts) for own in columns], axis=1)

        weights = stacked([one.weights for one in epoch.orders])
        going = ~np.asarray(position.stopped)
        rates = [self._learning_rates(position, epoch, step) for step in numbers.tolist()]
        # An infinite rate makes the run diverge, which is reported.
        with np.errstate(over="ignore"):
            learning_rate = np.array(rates, np.float32)
        return Steps(
            bucket=_window(epoch.buckets, first),
            rows=stacked([one.rows for one in epoch.orders]),
            weights=weights,
            number=numbers.astype(np.int32),
            active=(weights > 0).any(axis=(2, 3)) & going,
            learning_rate=learning_rate,
        )

    def _learning_rates(self, position: Position, epoch: _Epoch, steps: int) -> list[float]:
        """Return every replica's learning rate after so many steps."""

        def rate(config: TrainingConfig, history: list[EpochRecord]) -> float:
            return learning_rate(
                config,
                epochs=position.epoch,
                steps=steps,
                total_steps=config.total_steps or config.max_epochs * len(epoch),
                scores=[record.validation for record in history],
            )

        return list(map(rate, self.replicas.configs, position.history))

    def _end_epoch(
        self, shares: Shares, position: Position, epoch: _Epoch, between: Callable[[], None]
    ) -> Shares:
        """Validate, keep what improved (a tie keeps the earlier) and write down the epoch.

        Until all outputs are decoded and judged, nothing of `position` changes that doing this
        again would change otherwise.
        """
        config = self.replicas.training
        self._give_up_what_is_lost(shares, position)
        judgements = self._judgements(shares, position, self.validation, between)
        scores = [None if judgement is None else judgement.score for judgement in judgements]
        rates = self._learning_rates(position, epoch, position.total)
        looks: list[Judgement | None] = [None] * len(scores)
        if self.test is not None:
            looks = self._judgements(shares, position, self.test, between)
        improved = np.zeros(len(scores), np.bool_)
        for replica, (score, look) in enumerate(zip(scores, looks, strict=True)):
            if position.stopped[replica]:
                continue
            perplexity = _perplexity(position, replica) if config.loss.is_perplexity else None
            judged = _judged(config.selection.select, score, perplexity)
            improved[replica] = judged is None or judged > position.best[replica]
            if improved[replica]:
                position.best[replica] = -1.0 if judged is None else judged
                position.best_epoch[replica] = position.epoch + 1
            record = EpochRecord(
                epoch=position.epoch + 1,
                steps=position.total,
                loss=position.losses[replica] / len(epoch.orders[replica]),
                validation=score,
                best_epoch=position.best_epoch[replica],
                learning_rate=rates[replica],
                seconds=position.seconds,
                perplexity=perplexity,
                test=None if look is None else look.score,
                tests={} if look is None else look.tests,
            )
            position.history[replica].append(record)
            # Nothing can beat a perfect score, and a tie keeps the earlier: stopping is exact.
            is_perfect = position.best[replica] >= 1.0
            position.stopped[replica] = is_perfect or has_converged(
                config.selection.early_stopping,
                [each.perplexity for each in position.history[replica] if each.perplexity],
            )
        position.epoch, position.step, position.seconds = position.epoch + 1, 0, 0.0
        nothing = [0.0] * position.replicas
        position.losses, position.nats, position.counts = nothing, nothing, nothing
        return self.replicas.keep_best(shares, improved)

    def _give_up_what_is_lost(self, shares: Shares, position: Position) -> None:
        """Stop the replicas whose weights are no numbers any more; the others go on.

        A loss is that of the weights before its step, so the last step shows in the weights alone.

        Raises:
            Diverged: there are no others, and no weights that were selected before.
        """
        known = np.isfinite(position.losses) & self.replicas.finite(shares)
        for replica in np.flatnonzero(~known).tolist():
            position.diverged[replica] = position.stopped[replica] = True
        if all(position.lost):
            raise lost(self.replicas.seeds, position)

    def _judgements(
        self, shares: Shares, position: Position, trial: Trial, between: Callable[[], None]
    ) -> list[Judgement | None]:
        """Return how good answers are.

        None without rows, of what has stopped, and between two trials.
        """
        pairs = zip(trial.rows, position.stopped, strict=True)
        asked = [rows[:0] if stopped else rows for rows, stopped in pairs]
        if not any(map(len, asked)) or (position.epoch + 1) % trial.every:
            return [None] * len(asked)
        models = merged([share.model for share in shares])
        codes = self.replicas.decode(models, asked, between)
        return [trial.judge(n, own) if len(own) else None for n, own in enumerate(codes)]


def _count(position: Position, losses: NDArray[np.float32], weights: NDArray[np.float32]) -> None:
    """Add the losses of some steps, [steps, replicas], to those of the epoch."""
    # An example's weight is 1 / what a step's loss is a mean over.
    largest = weights.max(axis=(2, 3))
    counts = np.divide(1, largest, out=np.zeros(largest.shape), where=largest > 0)
    position.losses = (losses.sum(axis=0) + position.losses).tolist()
    position.nats = ((losses * counts).sum(axis=0) + position.nats).tolist()
    position.counts = (counts.sum(axis=0) + position.counts).tolist()


def _perplexity(position: Position, replica: int) -> float | None:
    """Return that of an epoch; None where a part of it was not counted."""
    mean = position.nats[replica] / (position.counts[replica] or nan)
    # The mean is a finite number, but its power may be too large for one.
    return exp(min(mean, MOST_NATS)) if isfinite(mean) else None


def _judged(select: str, score: float | None, perplexity: float | None) -> float | None:
    """Return what weights are selected by, more being better and 1 perfect; None for the last."""
    if select == "perplexity" and perplexity is not None:
        return 1 / perplexity
    return score if select == "best" else None


def lost(seeds: Sequence[int], position: Position) -> Diverged:
    """Return what is said of the replicas that are lost."""
    replicas = zip(seeds, position.history, position.lost, strict=True)
    gone = [f"{seed} (epoch {len(history) + 1})" for seed, history, is_lost in replicas if is_lost]
    place = f"the loss of seed {', '.join(gone)} is not finite"
    return Diverged(f"{place}; try a smaller learning rate")


def _window(values: NDArray[Any], first: int) -> NDArray[Any]:
    """Return STEPS_TOGETHER entries from `first` on, zeros after the last one."""
    here = values[first : first + STEPS_TOGETHER]
    missing = STEPS_TOGETHER - len(here)
    return np.pad(here, ((0, missing), *[(0, 0)] * (here.ndim - 1)))


def one_replica(tree: Any, replica: int) -> Any:
    """Return one replica's slice of a nest of arrays."""
    return jax.tree.map(lambda leaf: leaf[replica], tree)
