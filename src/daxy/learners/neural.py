"""A network with its training protocol as a learner: one group of replicas at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any, Literal

import jax
import numpy as np
from numpy.typing import NDArray

from daxy import models
from daxy.augmentation import Augmenter, Geca, Taught
from daxy.batching.epochs import Bucket, choose_buckets, widest
from daxy.batching.table import Rows, Table, Words
from daxy.core.errors import require
from daxy.core.examples import Examples, Sequences
from daxy.core.random import stream
from daxy.core.settings import made, stated
from daxy.core.split import Split
from daxy.core.vocabulary import Vocabulary
from daxy.models._model import Sizes, sees_worlds
from daxy.training.backend import PRNG, backend, pinned
from daxy.training.checkpoint import Arrays, Checkpoint, named_arrays
from daxy.training.loop import (
    EpochRecord,
    Judgement,
    Listener,
    Position,
    Training,
    Trial,
    one_replica,
)
from daxy.training.order import Order, Supply, TrainingSet
from daxy.training.protocol import Protocol
from daxy.training.replicas import Replicas, State, merged
from daxy.worlds.grid import CHANNELS

BUCKETS = 4
"""Padded shapes of one program: with 4, SCAN's batches are padded by 5% of their tokens."""

BUCKETS_OF_PARTS = 8
"""Padded shapes where a batch is padded in parts, from its shortest examples to its longest."""

NO_LIMIT = 2**31 - 1


STRETCH = 2**40
"""Examples of a stream from where one seed begins to where the next one does."""

SAMPLE = 256
"""Examples that are decoded to find out how long decoding takes."""

Score = Callable[[Examples, Sequences], float]
"""score(examples, predictions) -> the figure that selects a network's best weights."""


@dataclass(frozen=True, kw_only=True)
class Neural:
    """An architecture, its configuration and how it is trained."""

    model: str
    config: Any
    protocol: Protocol
    geca: Geca | None = None
    """How new examples are made of the training set; None: none are."""

    def __post_init__(self) -> None:
        is_fed = self.protocol.teacher_forcing == 1 or hasattr(models.get(self.model).Model, "fed")
        require(is_fed, f"{self.model} cannot be fed its own outputs; teacher-forcing must be 1")
        is_fixed = self.geca is None or not self.protocol.online
        require(is_fixed, "GECA needs a training set; expected --no-online")

    def settings(self) -> dict[str, Any]:
        """Return everything that decides what this learner learns, as JSON values."""
        return {
            "model": self.model,
            "config": stated(self.config),
            "protocol": stated(self.protocol),
            **({} if self.geca is None else {"geca": stated(self.geca)}),
        }

    @property
    def sees_worlds(self) -> bool:
        """Whether its network is shown the worlds that commands are said in."""
        return sees_worlds(models.get(self.model).Model)

    @property
    def shape(self) -> Neural:
        """The learner without what may differ between networks that train as one program."""
        return replace(self, protocol=replace(self.protocol, dropout=0.0, learning_rate=1.0))

    @pinned()
    def weights(self, words: Words) -> int:
        """Return how many numbers a network learns."""
        sizes = Sizes(*map(len, words), channels=len(CHANNELS) if self.sees_worlds else 0)
        build = partial(models.get(self.model).Model, self.config, sizes)
        network = jax.eval_shape(lambda: build(key=jax.random.key(0, impl=PRNG)))
        return sum(leaf.size for leaf in jax.tree.leaves(network))


@dataclass(frozen=True, eq=False)
class Member:
    """One network of a group that trains as one program."""

    learner: Neural
    split: Split
    seed: int
    score: Score


@dataclass(frozen=True, eq=False)
class Group:
    """Networks that train as one program: of one shape, each on its own data.

    What may differ are the seed, the dropout, the learning rate and the split; all splits have the
    same words.
    """

    members: Sequence[Member]

    @backend()
    def check(self) -> None:
        """Refuse what cannot be trained, before anything is done for it.

        Raises:
            WrongRequest: see `training`.
        """
        _ = self.training

    @backend()
    def fit(
        self,
        listener: Listener,
        *,
        checkpoint: Checkpoint | None = None,
        checkpoint_seconds: float = 30.0,
        test_every: int = 0,
    ) -> Fitted:
        """Train every network; each keeps the weights that its recipe selects.

        Args:
            listener: What hears of progress.
            checkpoint: Where the state is kept.
            checkpoint_seconds: How often.
            test_every: Epochs between two scores on the test set, for the log alone; 0: none.

        Raises:
            Interrupted: by a signal, after the state was saved in the checkpoint.
            RunFailed: the checkpoint is damaged or cannot be written.
        """
        training = replace(
            self.training,
            test=self._trial("test", test_every) if test_every else None,
            checkpoint=checkpoint,
            checkpoint_seconds=checkpoint_seconds,
        )
        state, position = training.fit(listener)
        return Fitted(training.replicas, state, position)

    @backend()
    def seconds(self, sample: float = 3.0, *, epochs_done: int = 0, test_every: int = 0) -> float:
        """Return about how long `fit` and the decoding of the test sets will take, at most.

        It trains for `sample` seconds and decodes a few examples to find out, and compiles the
        program that trains, which is kept for the training itself.

        Args:
            sample: Seconds to train for.
            epochs_done: How many are behind it already.
            test_every: As in `fit`.
        """
        first, step = self.training.pace(sample)
        tests = [self._table.rows(member.split.test) for member in self.members]
        model = merged(self._replicas.start()).model

        def decode(count: int) -> float:
            began = time.monotonic()
            self._replicas.decode(model, [own[:count] for own in tests])
            return time.monotonic() - began

        compiled = decode(SAMPLE)
        example = decode(SAMPLE) / min(SAMPLE, max(1, *map(len, tests)))
        validations = max(len(own) for own in self.training.validation.rows)
        epochs = self._replicas.protocol.max_epochs
        left = epochs - epochs_done
        every = test_every or epochs + 1
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
        recipe = self.members[0].learner.protocol
        has_all = all(len(member.split.validation) for member in self.members)
        scored = recipe.lr_factor == 1 or has_all
        require(scored, "lr-factor needs a validation set, and there is none; expected 1")
        return Training(
            replicas=self._replicas,
            supply=self._supply,
            validation=self._trial("validation", most=recipe.validation_examples),
        )

    def _trial(
        self, part: Literal["validation", "test"], every: int = 1, *, most: int = 0
    ) -> Trial:
        """Return what networks are asked of a part: `most` examples of it, drawn, or all for 0."""
        parts: list[Examples] = [getattr(member.split, part) for member in self.members]
        if most:
            parts = [_drawn(own, most) for own in parts]

        def judge(replica: int, codes: NDArray[np.uint16]) -> Judgement:
            member, asked = self.members[replica], parts[replica]
            said = self._table.targets.decode(codes)
            tests = member.split.tests.items() if part == "test" else ()
            some = ((name, own) for name, own in tests if own.start < own.stop)
            each = {name: member.score(asked[own], said[own]) for name, own in some}
            return Judgement(member.score(asked, said), each)

        return Trial([self._table.rows(own) for own in parts], judge, every)

    @cached_property
    def _splits(self) -> list[Split]:
        return list({id(member.split): member.split for member in self.members}.values())

    @cached_property
    def _taught(self) -> list[Taught]:
        """What each member is taught."""
        geca = self.members[0].learner.geca
        if geca is None:
            nothing = self.members[0].split.train.take([])
            return [Taught(member.split.train, nothing) for member in self.members]
        augmenters = {id(split): Augmenter(split.train, geca) for split in self._splits}
        found = [augmenters[id(own.split)].taught(own.seed) for own in self.members]
        some = all(len(taught.added) or (geca.count == 0 and taught.changed) for taught in found)
        require(some, "GECA finds nothing to add to this training set; train without it")
        return found

    @cached_property
    def _table(self) -> Table:
        if self.members[0].learner.protocol.online:
            held_out = [part for split in self._splits for part in (split.validation, split.test)]
            return Table.of(held_out, every_symbol(self._splits))
        parts = ((split.train, split.validation, split.test) for split in self._splits)
        taught = self._taught if self.members[0].learner.geca else ()
        augmented = ((own.given, own.added) for own in taught)
        return Table.of([*chain.from_iterable(chain(parts, augmented))])

    def _supply(self, number: int) -> Supply:
        """Return what is trained on in an epoch, counted from 0."""
        is_streamed = self.members[0].learner.protocol.online
        return self._streamed(number) if is_streamed else self._always

    def _streamed(self, number: int) -> Supply:
        """Return the examples that an epoch alone has."""
        recipe = self.members[0].learner.protocol
        each = recipe.epoch_steps * recipe.batch_size
        first = number * each
        count = min(each, recipe.total_steps * recipe.batch_size - first)
        made = [_stretch(member, range(first, first + count)) for member in self.members]
        pairs = Examples(
            Sequences.joined([own.source for own in made]),
            Sequences.joined([own.target for own in made]),
        )
        table = Table.in_order(pairs, (self._table.sources, self._table.targets), self._widths)
        rows = np.arange(len(pairs), dtype=np.int32).reshape(len(made), -1)
        return Supply(table, list(map(TrainingSet, rows)))

    @cached_property
    def _widths(self) -> tuple[int, int]:
        """What examples of training are padded to at least, that most epochs be alike."""
        known = self._splits[0].train
        return int(known.source.lengths.max()) + 1, int(known.target.lengths.max()) + 1

    @cached_property
    def _always(self) -> Supply:
        """What every epoch is trained on where examples end."""
        is_distinct = self.members[0].learner.protocol.deduplicate

        def rows(given: Examples) -> Rows:
            found = self._table.rows(given)
            return np.unique(found) if is_distinct else found

        distinct = {id(taught.given): rows(taught.given) for taught in self._taught}
        sets = [
            TrainingSet(distinct[id(taught.given)], self._table.rows(taught.added))
            for taught in self._taught
        ]
        return Supply(self._table, sets)

    @cached_property
    def _replicas(self) -> Replicas:
        shape, supply = self.members[0].learner.shape, self._supply(0)
        table, order = supply.table, Order(shape.protocol, supply.table)
        every = np.concatenate([train.rows for train in supply.train])
        limits = int(table.source_lengths[every].max()), int(table.target_lengths[every].max())
        # What an augmentation adds is about as long as what is there: one seed stands for all.
        distinct = {id(train.given): train for train in reversed(supply.train)}.values()
        shapes = widest([order.shapes(train) for train in distinct])
        count = BUCKETS if order.parts == 1 else BUCKETS_OF_PARTS
        buckets = choose_buckets(shapes, limits, count)
        if shape.protocol.online:
            # A later epoch may have longer pairs: the largest shape is as large as they are.
            buckets[-1] = Bucket(NO_LIMIT, NO_LIMIT)
        return Replicas(
            architecture=shape.model,
            config=shape.config,
            protocol=shape.protocol,
            table=self._table,
            buckets=tuple(buckets),
            seeds=tuple(member.seed for member in self.members),
            dropout=tuple(member.learner.protocol.dropout for member in self.members),
            learning_rates=tuple(member.learner.protocol.learning_rate for member in self.members),
        )


def _stretch(member: Member, rows: range) -> Examples:
    """Return the examples with these numbers, counted in the member's own part of its stream."""
    stream, first = member.split.stream, member.seed * STRETCH
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
    """A trained group; its networks are asked together."""

    replicas: Replicas
    state: State
    position: Position

    @backend()
    def predict(self, parts: Sequence[Examples]) -> list[Sequences]:
        """Return each network's greedy outputs for examples of the split it was fitted on.

        What was streamed is not among them.
        """
        rows = [self.replicas.table.rows(examples) for examples in parts]
        codes = self.replicas.decode(self.state.best, rows)
        return [self.replicas.table.targets.decode(own) for own in codes]

    @backend()
    def weights(self, replica: int) -> Arrays:
        """Return one network's best weights by name."""
        return named_arrays(one_replica(self.state.best, replica))

    def history(self, replica: int) -> list[EpochRecord]:
        """Return what each epoch of one network came to."""
        return self.position.history[replica]


def of_settings(settings: Mapping[str, Any]) -> Neural:
    """Return the learner whose settings these are; see `Neural.settings`.

    Raises:
        UnknownName: there is no such architecture, or no such setting.
        WrongRequest: a value that the architecture, the protocol or GECA does not take.
    """
    protocol = made(Protocol, settings["protocol"], of="the protocol")
    return learner(settings["model"], settings["config"], protocol, settings.get("geca"))


def learner(
    model: str, config: dict[str, Any], protocol: Protocol, geca: Mapping[str, Any] | None = None
) -> Neural:
    """Return the learner with these settings; what `config` and `geca` leave out has its default.

    Raises:
        UnknownName: there is no such architecture, or a setting that it or GECA has not.
        WrongRequest: a value that the architecture or GECA does not take.
    """
    settings = made(models.get(model).Config, config, of=f"model {model}")
    augmentation = None if geca is None else made(Geca, geca, of="geca")
    return Neural(model=model, config=settings, protocol=protocol, geca=augmentation)
