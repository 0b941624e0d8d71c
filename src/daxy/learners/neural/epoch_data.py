"""Data of networks that train together: encoded table, epochs, evaluation sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from daxy.augmentation import AugmentedTrain, Augmenter
from daxy.batching.table import Rows, Table, Vocabularies
from daxy.core.errors import require
from daxy.core.examples import Examples
from daxy.core.random import stream
from daxy.core.split import Split
from daxy.core.vocabulary import Vocabulary
from daxy.learners._learner import Job
from daxy.learners.neural.network import Network
from daxy.training.evaluation import EvalResult, EvalSet
from daxy.training.sampler import EpochData, TrainingSet

SEED_OFFSET = 2**40
"""Offset between the streams of consecutive seeds, in examples."""


@dataclass(frozen=True, eq=False)
class GroupData:
    """Data of a group of jobs, encoded in one table."""

    jobs: Sequence[Job]
    network: Network
    """The settings that all jobs share."""

    @cached_property
    def table(self) -> Table:
        """All examples; with online training those of the held-out sets."""
        if self.network.training.online:
            held_out = [part for split in self._splits for part in (split.validation, split.test)]
            return Table.of(held_out, stream_vocabularies(self._splits))
        parts = ((split.train, split.validation, split.test) for split in self._splits)
        augmented = self._augmented if self.network.geca else ()
        sets = ((each.original, each.added) for each in augmented)
        return Table.of([*chain.from_iterable(chain(parts, sets))])

    def epoch(self, number: int) -> EpochData:
        """Return the training examples of an epoch, counted from 0."""
        return self._generated(number) if self.network.training.online else self._fixed

    def distinct(self, epoch: EpochData) -> list[TrainingSet]:
        """Return training sets whose lengths are those of all training sets of an epoch."""
        if self.network.training.online:
            return list(epoch.train)
        # Augmented examples of all seeds have similar lengths: one seed is enough.
        pairs = zip(reversed(self._augmented), reversed(epoch.train), strict=True)
        return list({augmented.original: train for augmented, train in pairs}.values())

    def eval_set(
        self, part: Literal["validation", "test"], *, every: int = 1, max_examples: int = 0
    ) -> EvalSet:
        """Return the validation sets or the test sets.

        Args:
            part: Name of the sets.
            every: Epochs between two evaluations.
            max_examples: Maximum size of a set, which is then sampled; 0: all examples.
        """
        sets: list[Examples] = [getattr(job.split, part) for job in self.jobs]
        if max_examples:
            sets = [_sample(examples, max_examples) for examples in sets]

        def score_fn(replica: int, codes: NDArray[np.uint16]) -> EvalResult:
            job, examples = self.jobs[replica], sets[replica]
            outputs = self.table.targets.decode(codes)
            tests = job.split.tests.items() if part == "test" else ()
            by_test = {
                name: job.score(examples[rows], outputs[rows])
                for name, rows in tests
                if rows.start < rows.stop
            }
            return EvalResult(job.score(examples, outputs), by_test)

        return EvalSet([self.table.rows(examples) for examples in sets], score_fn, every)

    @cached_property
    def _splits(self) -> list[Split]:
        return list(dict.fromkeys(job.split for job in self.jobs))

    @cached_property
    def _augmented(self) -> list[AugmentedTrain]:
        """The training set of each job.

        Raises:
            WrongRequest: GECA finds nothing to add.
        """
        geca = self.network.geca
        if geca is None:
            none = self.jobs[0].split.train.take([])
            return [AugmentedTrain(job.split.train, none) for job in self.jobs]
        augmenters = {split: Augmenter(split.train, geca) for split in self._splits}
        sets = [augmenters[job.split].augment(job.seed) for job in self.jobs]
        has_effect = all(len(each.added) or (geca.count == 0 and each.changed) for each in sets)
        require(has_effect, "GECA finds nothing to add to this training set; train without it")
        return sets

    @cached_property
    def _fixed(self) -> EpochData:
        """The training examples of every epoch, without online training."""
        is_distinct = self.network.training.deduplicate

        @cache
        def rows(train: Examples) -> Rows:
            numbers = self.table.rows(train)
            return np.unique(numbers) if is_distinct else numbers

        sets = [
            TrainingSet(rows(train.original), self.table.rows(train.added))
            for train in self._augmented
        ]
        return EpochData(self.table, sets)

    def _generated(self, number: int) -> EpochData:
        """Return the training examples of an epoch of online training."""
        config = self.network.training
        size = config.epoch_steps * config.batch_size
        first = number * size
        end = min(first + size, config.total_steps * config.batch_size)
        examples = Examples.joined([_generate(job, range(first, end)) for job in self.jobs])
        table = Table.in_order(examples, self.table.vocabularies, self._min_widths)
        rows = np.arange(len(examples), dtype=np.int32).reshape(len(self.jobs), -1)
        return EpochData(table, list(map(TrainingSet, rows)))

    @cached_property
    def _min_widths(self) -> tuple[int, int]:
        """Minimum padded widths of generated examples: most epochs then have one shape."""
        train = self._splits[0].train
        return int(train.source.lengths.max()) + 1, int(train.target.lengths.max()) + 1


@cache
def vocabularies_of(split: Split) -> Vocabularies:
    """Return the vocabularies of a split, which decide the shape of its networks."""
    if split.stream is not None:
        return stream_vocabularies([split])
    parts = split.train, split.validation, split.test
    sources = Vocabulary.of(*(part.source for part in parts))
    return sources, Vocabulary.of(*(part.target for part in parts))


def stream_vocabularies(splits: Sequence[Split]) -> Vocabularies:
    """Return all symbols that examples of streams can have."""
    sources = chain.from_iterable(split.train.source.symbols for split in splits)
    targets = chain.from_iterable(split.train.target.symbols for split in splits)
    return Vocabulary(tuple(sorted(set(sources)))), Vocabulary(tuple(sorted(set(targets))))


def _generate(job: Job, rows: range) -> Examples:
    """Return the examples with these numbers, counted from the start of the seed's stream."""
    assert job.split.stream is not None
    first = job.seed * SEED_OFFSET
    return job.split.stream.pairs(range(first + rows.start, first + rows.stop))


def _sample(examples: Examples, count: int) -> Examples:
    """Return a sample of the examples, always the same one."""
    chosen = stream(0, "validated").permutation(len(examples))[:count]
    return examples.take(np.sort(chosen))
