"""Nearest neighbour: the target of the most similar training source.

The distance is the edit distance of token sequences (Levenshtein 1966); of several sources the
first in training order counts. This is the baseline of memorization: a model that is no better has
learned no composition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from daxy.core import json_objects
from daxy.core.errors import DaxyError, RunFailed, require
from daxy.core.examples import Examples, Sequences, Tokens
from daxy.core.files import write_json
from daxy.learners._learner import Callbacks, Fit, Job, Learner
from daxy.tasks import DatasetOptions, Task

FILE = "memory.json"
"""Name of the predictor's file."""
CHUNK = 256
"""Sources compared with the training set at a time; limits memory."""


@dataclass(frozen=True, kw_only=True)
class Nearest(Learner):
    """The target of the training example whose source has the smallest edit distance."""

    kind: ClassVar[str] = "nearest"
    substitute: bool = False
    """Replace, in that target, the translation of each word that differs: `jump twice` then gets
    the target of `walk twice` with I_JUMP for I_WALK. A word's translation is the target token that
    occurs with it most exclusively in train (Dice coefficient)."""

    def check(self, task: Task[Any], data: DatasetOptions) -> None:
        """Refuse a task with worlds: a command's nearest neighbour may stand in another world.

        Raises:
            WrongRequest: the task has worlds.
        """
        del data
        require(not task.grounded, f"nearest has no input for worlds, which {task.name} needs")

    def fit(self, jobs: Sequence[Job], callbacks: Callbacks) -> Iterator[Fit | DaxyError]:
        """Remember the training sets."""
        del callbacks
        for job in jobs:
            assert isinstance(job.learner, Nearest)
            yield Fit(predictor=Memory.of(job.split.train, substitute=job.learner.substitute))

    @classmethod
    def load(cls, folder: Path, settings: Mapping[str, Any]) -> Memory:
        """Return the predictor of a run folder.

        Raises:
            RunFailed: its file is missing or damaged.
        """
        pairs = json_objects.read(folder / FILE)
        try:
            examples = Examples.of(
                (tuple(source), tuple(target)) for source, target in pairs["pairs"]
            )
        except (KeyError, TypeError, ValueError) as error:
            raise RunFailed(f"{folder / FILE} is damaged: {error}") from None
        return Memory(examples, cls.of(settings).substitute)


@dataclass(frozen=True, eq=False)
class Memory:
    """Distinct training examples."""

    examples: Examples
    substitute: bool

    @classmethod
    def of(cls, train: Examples, *, substitute: bool) -> Memory:
        """Return the memory of a training set."""
        first = dict[tuple[Tokens, Tokens], int]()
        for row, pair in enumerate(zip(train.source, train.target, strict=True)):
            first.setdefault(pair, row)
        return cls(train.take([*first.values()]), substitute)

    def predict(self, examples: Examples) -> Sequences:
        """Return the target of each source's nearest neighbour."""
        sources = list(examples.source)
        outputs = list[Tokens]()
        for start in range(0, len(sources), CHUNK):
            chunk = sources[start : start + CHUNK]
            distances = process.cdist(chunk, self._sources, scorer=Levenshtein.distance, workers=-1)
            rows = np.argmin(distances, axis=1).tolist()  # ties: the first
            outputs += map(self._answer, chunk, rows)
        return Sequences.of(outputs)

    def save(self, folder: Path) -> list[str]:
        """Write the examples."""
        pairs = [*zip(self.examples.source, self.examples.target, strict=True)]
        write_json(folder / FILE, {"pairs": pairs})
        return [FILE]

    @cached_property
    def _sources(self) -> list[Tokens]:
        return list(self.examples.source)

    def _answer(self, source: Tokens, row: int) -> Tokens:
        """Return the output for a source whose nearest neighbour is in this row."""
        target = self.examples.target[row]
        if not self.substitute:
            return target
        neighbour, renamed = self._sources[row], dict[str, str]()
        for edit in Levenshtein.editops(neighbour, source):
            if edit.tag == "replace":
                old, new = neighbour[edit.src_pos], source[edit.dest_pos]
                if old in self._translations and new in self._translations:
                    renamed[self._translations[old]] = self._translations[new]
        return tuple(renamed.get(token, token) for token in target)

    @cached_property
    def _translations(self) -> dict[str, str]:
        """The target token of each source token by the largest Dice coefficient."""
        sources, targets = Counter[str](), Counter[str]()
        pairs = Counter[tuple[str, str]]()
        for source, target in zip(self.examples.source, self.examples.target, strict=True):
            words, tokens = [*dict.fromkeys(source)], [*dict.fromkeys(target)]
            sources.update(words)
            targets.update(tokens)
            pairs.update(product(words, tokens))
        best = dict[str, tuple[float, str]]()
        for (word, token), count in pairs.items():
            dice = 2 * count / (sources[word] + targets[token])
            if dice > best.get(word, (0.0, ""))[0]:
                best[word] = dice, token
        return {word: token for word, (_, token) in best.items()}


LEARNER = Nearest
