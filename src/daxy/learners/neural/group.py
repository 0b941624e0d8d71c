"""Networks that train as one program."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from daxy.augmentation import AugmentedTrain, Augmenter
from daxy.batching.epochs import Bucket, choose_buckets, widest
from daxy.batching.table import Rows, Table, Words
from daxy.core.errors import DaxyError, require
from daxy.core.examples import Examples, Sequences
from daxy.core.random import stream
from daxy.core.split import Split
from daxy.core.vocabulary import Vocabulary
from daxy.learners._learner import Callbacks, Fit, Job, Progress, Record
from daxy.learners.neural.network import Network
from daxy.learners.neural.predictor import save
from daxy.training.backend import backend
from daxy.training.checkpoint import Arrays, Checkpoint, named_arrays
from daxy.training.config import TrainingConfig
from daxy.training.evaluation import EvalResult, EvalSet
from daxy.training.loop import Training, TrainingCallback, one_replica
from daxy.training.parts import Plateau
from daxy.training.placement import merged
from daxy.training.replicas import Replicas
from daxy.training.sampler import BatchSampler, EpochData, TrainingSet
from daxy.training.step import State
from daxy.training.trainer_state import TrainerState

BUCKETS = 4
"""Padded shapes of one program: with 4, SCAN's batches are padded by 5% of their tokens."""

BUCKETS_OF_PARTS = 8
"""Padded shapes where a batch is padded in parts, from its shortest examples to its longest."""

NO_LIMIT = 2**31 - 1


STRETCH = 2**40
"""Examples of a stream from where one seed begins to where the next one does."""

SAMPLE = 256
"""Examples that are decoded to find out how long decoding takes."""


@dataclass(frozen=True, eq=False)
class Group:
    """Networks that train as one program: of one shape, each on its own data.

    They may differ in the seed, the dropout, the learning rate and the split; all splits have the
    same words.
    """

    jobs: Sequence[Job]

    @backend()
    def check(self) -> None:
        """Refuse what cannot be trained, before anything is done for it.

        Raises:
            WrongRequest: see `training`.
        """
        _ = self.training

    def fits(self, callbacks: Callbacks) -> Iterator[Fit | DaxyError]:
        """Train every network, then yield the result of each; see `Learner.fit`.

        Each keeps the weights that its training selects. A network without any, which diverged
        before, has an error in place of a result.
        """
        callback = _Reports(self._config, callbacks)
        trained = self.fit(callback)
        callback.update(trained.trainer)
        error = trained.trainer.divergence([job.seed for job in self.jobs])
        for replica, is_lost in enumerate(trained.trainer.lost):
            if is_lost:
                yield error
                continue
            facts = trained.facts(replica)
            yield Fit(predictor=Replica(trained, replica), log=callback.logs[replica], facts=facts)

    @backend()
    def fit(self, callback: TrainingCallback) -> Fitted:
        """Train every network.

        Raises:
            Interrupted: by a signal, after the state was saved in the checkpoint.
            RunFailed: the checkpoint is damaged or cannot be written.
        """
        first, names = self.jobs[0], tuple(job.name for job in self.jobs)
        training = replace(
            self.training,
            test=self._eval_set("test", first.test_every) if first.test_every else None,
            checkpoint=Checkpoint.within(first.workdir, names),
            checkpoint_seconds=first.checkpoint_seconds,
        )
        state, trainer = training.fit(callback)
        return Fitted(self.jobs, training.replicas, state, trainer)

    @property
    def _config(self) -> TrainingConfig:
        """The training configuration, but for the dropout and the learning rate."""
        return self._network.training

    @property
    def _network(self) -> Network:
        return network_of(self.jobs[0])

    @backend()
    def seconds(self, sample: float = 3.0, *, epochs_done: int = 0) -> float:
        """Return about how long `fit` and the decoding of the test sets will take, at most.

        It trains for `sample` seconds and decodes a few examples to find out, and compiles the
        program that trains, which is kept for the training itself.

        Args:
            sample: Seconds to train for.
            epochs_done: How many are behind it already.
        """
        first, step = self.training.pace(sample)
        tests = [self._table.rows(job.split.test) for job in self.jobs]
        model = merged(self._replicas.start()).model

        def decode(count: int) -> float:
            began = time.monotonic()
            self._replicas.decode(model, [own[:count] for own in tests])
            return time.monotonic() - began

        compiled = decode(SAMPLE)
        example = decode(SAMPLE) / min(SAMPLE, max(1, *map(len, tests)))
        validations = max(len(own) for own in self.training.validation.rows)
        epochs = self._replicas.training.max_epochs
        left = epochs - epochs_done
        every = self.jobs[0].test_every or epochs + 1
        looks = 1 + epochs // every - epochs_done // every
        decoded = looks * max(map(len, tests)) + validations * left
        return first + step * self.training.steps * left / epochs + compiled + example * decoded

    @cached_property
    def training(self) -> Training:
        """The training of the group, ready to begin.

        Raises:
            WrongRequest: the recipe looks at validation scores, and there is no validation set; or
                an augmentation finds nothing to add.
        """
        has_all = all(len(job.split.validation) for job in self.jobs)
        scored = has_all or not isinstance(self._config.schedule, Plateau)
        missing = "schedule plateau needs a validation set, and there is none"
        require(scored, f"{missing}; expected another schedule")
        most = self._config.selection.validation_examples
        return Training(
            replicas=self._replicas,
            data=self._data,
            validation=self._eval_set("validation", most=most),
        )

    def _eval_set(
        self, part: Literal["validation", "test"], every: int = 1, *, most: int = 0
    ) -> EvalSet:
        """Return what networks are asked of a part: `most` examples of it, drawn, or all for 0."""
        parts: list[Examples] = [getattr(job.split, part) for job in self.jobs]
        if most:
            parts = [_drawn(own, most) for own in parts]

        def score_fn(replica: int, codes: NDArray[np.uint16]) -> EvalResult:
            job, asked = self.jobs[replica], parts[replica]
            said = self._table.targets.decode(codes)
            tests = job.split.tests.items() if part == "test" else ()
            some = ((name, own) for name, own in tests if own.start < own.stop)
            each = {name: job.score(asked[own], said[own]) for name, own in some}
            return EvalResult(job.score(asked, said), each)

        return EvalSet([self._table.rows(own) for own in parts], score_fn, every)

    @cached_property
    def _splits(self) -> list[Split]:
        return list({id(job.split): job.split for job in self.jobs}.values())

    @cached_property
    def _taught(self) -> list[AugmentedTrain]:
        """What each member is taught."""
        geca = self._network.geca
        if geca is None:
            nothing = self.jobs[0].split.train.take([])
            return [AugmentedTrain(job.split.train, nothing) for job in self.jobs]
        augmenters = {id(split): Augmenter(split.train, geca) for split in self._splits}
        found = [augmenters[id(own.split)].augment(own.seed) for own in self.jobs]
        some = all(len(taught.added) or (geca.count == 0 and taught.changed) for taught in found)
        require(some, "GECA finds nothing to add to this training set; train without it")
        return found

    @cached_property
    def _table(self) -> Table:
        if self._config.online:
            held_out = [part for split in self._splits for part in (split.validation, split.test)]
            return Table.of(held_out, every_symbol(self._splits))
        parts = ((split.train, split.validation, split.test) for split in self._splits)
        taught = self._taught if self._network.geca else ()
        augmented = ((own.original, own.added) for own in taught)
        return Table.of([*chain.from_iterable(chain(parts, augmented))])

    def _data(self, number: int) -> EpochData:
        """Return what is trained on in an epoch, counted from 0."""
        is_streamed = self._config.online
        return self._streamed(number) if is_streamed else self._always

    def _streamed(self, number: int) -> EpochData:
        """Return the examples that an epoch alone has."""
        config = self._config
        each = config.epoch_steps * config.batch_size
        first = number * each
        count = min(each, config.total_steps * config.batch_size - first)
        made = [_stretch(job, range(first, first + count)) for job in self.jobs]
        pairs = Examples(
            Sequences.joined([own.source for own in made]),
            Sequences.joined([own.target for own in made]),
        )
        table = Table.in_order(pairs, (self._table.sources, self._table.targets), self._widths)
        rows = np.arange(len(pairs), dtype=np.int32).reshape(len(made), -1)
        return EpochData(table, list(map(TrainingSet, rows)))

    @cached_property
    def _widths(self) -> tuple[int, int]:
        """What examples of training are padded to at least, that most epochs be alike."""
        known = self._splits[0].train
        return int(known.source.lengths.max()) + 1, int(known.target.lengths.max()) + 1

    @cached_property
    def _always(self) -> EpochData:
        """What every epoch is trained on where examples end."""
        is_distinct = self._config.deduplicate

        def rows(given: Examples) -> Rows:
            found = self._table.rows(given)
            return np.unique(found) if is_distinct else found

        distinct = {id(taught.original): rows(taught.original) for taught in self._taught}
        sets = [
            TrainingSet(distinct[id(taught.original)], self._table.rows(taught.added))
            for taught in self._taught
        ]
        return EpochData(self._table, sets)

    @cached_property
    def _replicas(self) -> Replicas:
        shape, data = self._network.shape, self._data(0)
        table, order = data.table, BatchSampler(shape.training, data.table)
        every = np.concatenate([train.rows for train in data.train])
        limits = int(table.source_lengths[every].max()), int(table.target_lengths[every].max())
        # What an augmentation adds is about as long as what is there: one seed stands for all.
        distinct = {id(train.original): train for train in reversed(data.train)}.values()
        shapes = widest([order.shapes(train) for train in distinct])
        count = BUCKETS if order.parts == 1 else BUCKETS_OF_PARTS
        buckets = choose_buckets(shapes, limits, count)
        if shape.training.online:
            # A later epoch may have longer pairs: the largest shape is as large as they are.
            buckets[-1] = Bucket(NO_LIMIT, NO_LIMIT)
        configs = [network_of(job).training for job in self.jobs]
        return Replicas(
            architecture=shape.model,
            config=shape.config,
            training=shape.training,
            table=self._table,
            buckets=tuple(buckets),
            seeds=tuple(job.seed for job in self.jobs),
            dropout=tuple(each.dropout for each in configs),
            learning_rates=tuple(each.optimizer.learning_rate for each in configs),
        )


def _stretch(job: Job, rows: range) -> Examples:
    """Return the examples with these numbers, counted in the member's own part of its stream."""
    stream, first = job.split.stream, job.seed * STRETCH
    assert stream is not None
    return stream.pairs(range(first + rows.start, first + rows.stop))


def every_symbol(splits: Sequence[Split]) -> Words:
    """Return all that sources and targets of streams can have, met or not."""
    sources = chain.from_iterable(split.train.source.symbols for split in splits)
    targets = chain.from_iterable(split.train.target.symbols for split in splits)
    return Vocabulary(tuple(sorted(set(sources)))), Vocabulary(tuple(sorted(set(targets))))


def _drawn(examples: Examples, count: int) -> Examples:
    """Return some of the examples, the same ones whenever it is asked."""
    chosen = stream(0, "validated").permutation(len(examples))[:count]
    return examples.take(np.sort(chosen))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained group; its networks predict together."""

    jobs: Sequence[Job]
    replicas: Replicas
    state: State
    trainer: TrainerState

    @cached_property
    def _outputs(self) -> dict[str, list[Sequences]]:
        return {}

    def outputs(self, part: Literal["validation", "test"]) -> list[Sequences]:
        """Return each network's greedy outputs for a part of its own split."""
        if part not in self._outputs:
            self._outputs[part] = self.predict([getattr(job.split, part) for job in self.jobs])
        return self._outputs[part]

    @backend()
    def predict(self, parts: Sequence[Examples]) -> list[Sequences]:
        """Return each network's greedy outputs for examples of the split that it was fitted on.

        What was streamed is not among them.
        """
        rows = [self.replicas.table.rows(examples) for examples in parts]
        codes = self.replicas.decode(self.state.best, rows)
        return [self.replicas.table.targets.decode(own) for own in codes]

    @backend()
    def weights(self, replica: int) -> Arrays:
        """Return one network's best weights by name."""
        return named_arrays(one_replica(self.state.best, replica))

    def facts(self, replica: int) -> dict[str, Any]:
        """Return the facts of one network's training for `scores.json`."""
        history = self.trainer.history[replica]
        best = history[self.trainer.best_epoch[replica] - 1]
        return {
            **({} if best.perplexity is None else {"perplexity": best.perplexity}),
            "validation": best.validation,
            "best_epoch": best.epoch,
            "epochs": len(history),
            **({"diverged": True} if self.trainer.diverged[replica] else {}),
            "steps": history[-1].steps,
            "seconds": sum(record.seconds for record in history),
        }


@dataclass(frozen=True, eq=False)
class Replica:
    """The predictor of one network of a trained group."""

    fitted: Fitted
    replica: int

    def predict(self, examples: Examples) -> Sequences:
        """Return the greedy outputs; for a part of its own split all networks decode together."""
        split = self.fitted.jobs[self.replica].split
        if examples is split.test:
            return self.fitted.outputs("test")[self.replica]
        if examples is split.validation:
            return self.fitted.outputs("validation")[self.replica]
        nothing = [job.split.test[:0] for job in self.fitted.jobs]
        return self.fitted.predict(
            [examples if n == self.replica else own for n, own in enumerate(nothing)]
        )[self.replica]

    def save(self, folder: Path) -> list[str]:
        """Write the best weights and the vocabularies."""
        table = self.fitted.replicas.table
        return [save(folder, self.fitted.weights(self.replica), (table.sources, table.targets))]


class _Reports(TrainingCallback):
    """Passes the state of a group on to callbacks."""

    def __init__(self, config: TrainingConfig, callbacks: Callbacks) -> None:
        self._config, self._callbacks = config, callbacks
        self.logs: list[list[Record]] = []
        self._steps = 0

    def stepped(self, trainer: TrainerState, steps: int, examples: int) -> None:
        self._steps = steps
        self._callbacks.stepped(self.update(trainer), examples)

    def epoch_ended(self, trainer: TrainerState) -> None:
        self._callbacks.epoch_ended(self.update(trainer))

    def update(self, trainer: TrainerState) -> Progress:
        """Return the state for callbacks."""
        self.logs = self.logs or [[] for _ in trainer.history]
        for log, history in zip(self.logs, trainer.history, strict=True):
            log.extend(map(asdict, history[len(log) :]))
        diverged = sum(trainer.diverged)
        finished = sum(trainer.stopped) - diverged
        return Progress(
            epoch=trainer.epoch,
            epochs=self._config.max_epochs,
            step=trainer.step,
            steps=self._steps,
            total=trainer.total,
            logs=self.logs,
            figures=self._figures(trainer),
            ended={"finished": finished, "diverged": diverged},
        )

    def _figures(self, trainer: TrainerState) -> dict[str, list[float]]:
        going = max(len(trainer.stopped) - sum(trainer.stopped), 1)
        loss = sum(trainer.losses) / going / max(trainer.step, 1)
        best = [score for score in trainer.best if score > 0]
        if self._config.selection.select == "perplexity":
            return {"loss": [loss], "lowest perplexity": [1 / score for score in best]}
        return {"loss": [loss], "best": best}


def network_of(job: Job) -> Network:
    """Return the learner of a job that trains a network."""
    assert isinstance(job.learner, Network)
    return job.learner
