"""Networks as a learner: which train as one program, and how long that takes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from daxy.batching.table import Words
from daxy.core.errors import DaxyError
from daxy.core.split import Split
from daxy.core.vocabulary import Vocabulary
from daxy.learners._learner import Callbacks, Fit, Job
from daxy.learners.neural.group import Group, every_symbol, network_of
from daxy.learners.neural.network import Network
from daxy.learners.neural.predictor import Predictor, load
from daxy.training.backend import backend, environment
from daxy.training.checkpoint import Checkpoint
from daxy.training.compilation import keep_compilations
from daxy.training.devices import use_every_core
from daxy.training.parts import Samples

MEMORY = 2**29
"""Bytes that the networks of a group may take, with their moments and their best weights."""
COPIES = 4
"""Copies of each weight: itself, two moments, and the best so far."""
REPLICAS = 64
"""Maximum networks of a group: more hardly cost less each, and all of them end together."""
STEP = 30_000
"""Fixed cost of a step, in units of one weight; it matters only for very different sizes."""


@dataclass(frozen=True, kw_only=True)
class Neural(Network):
    """An architecture, its configuration and how it is trained."""

    def groups(self, jobs: Sequence[Job], most: int | None = None) -> list[list[Job]]:
        """Return the jobs of one shape together, as many as memory has room for.

        Jobs that draw their examples share a program if their data has the same words; jobs that
        pass through them, if it is the same data: passes through splits of different sizes would
        meet lengths that do not fit together.
        """
        shapes: dict[object, list[Job]] = {}
        for job in jobs:
            learner = network_of(job)
            data = (
                words_of(job.split)
                if isinstance(learner.training.budget, Samples)
                else id(job.split)
            )
            shapes.setdefault((learner.shape, data), []).append(job)
        return [part for alike in shapes.values() for part in _parts(alike, most)]

    def cost(self, job: Job) -> float:
        """Return the arithmetic of a job's training, in a unit of its own."""
        return float(self.samples(job.split)) * (STEP + self.parameters(words_of(job.split)))

    def seconds(self, jobs: Sequence[Job], epochs_done: int = 0) -> float:
        """Return about how many seconds a group takes, after running a little of it."""
        self.prepare()
        return Group(jobs).seconds(epochs_done=epochs_done)

    def epochs_done(self, workdir: Path) -> int:
        """Return how many epochs the state in a working folder has behind it."""
        epoch = (Checkpoint.within(workdir).position() or {}).get("epoch")
        return epoch if isinstance(epoch, int) else 0

    def prepare(self) -> None:
        """Set JAX up: every core is a device, and compiled programs are kept.

        Raises:
            WrongRequest: JAX cannot start the device that its settings ask for.
        """
        keep_compilations()
        use_every_core()
        with backend():
            pass

    def owners(self, workdir: Path) -> tuple[str, ...]:
        """Return the names of the jobs whose state is in a working folder; () if unknown."""
        return Checkpoint.within(workdir).owners()

    def fit(self, jobs: Sequence[Job], callbacks: Callbacks) -> Iterator[Fit | DaxyError]:
        """Train networks as one program; see `Learner.fit`."""
        self.prepare()
        group = Group(jobs)
        group.check()
        return group.fits(callbacks)

    def environment(self) -> dict[str, Any]:
        """Return the version of JAX, the devices, and settings that change results."""
        return environment()

    @classmethod
    def load(cls, folder: Path, settings: Mapping[str, Any]) -> Predictor:  # type: ignore
        """Return the network of a run folder.

        Raises:
            RunFailed: its file is missing or damaged.
        """
        return load(folder, cls.of(settings))


@cache
def words_of(split: Split) -> Words:
    """Return the words of a split, on which the shape of its networks depends."""
    if split.stream is not None:
        return every_symbol([split])
    parts = split.train, split.validation, split.test
    sources = Vocabulary.of(*(part.source for part in parts))
    return sources, Vocabulary.of(*(part.target for part in parts))


def _parts(jobs: Sequence[Job], most: int | None) -> list[list[Job]]:
    """Return jobs of one shape in as few even parts as possible."""
    first = jobs[0]
    size = 4 * COPIES * network_of(first).parameters(words_of(first.split))
    fitting = most or max(1, min(REPLICAS, MEMORY // size))
    parts = math.ceil(len(jobs) / fitting)
    edges = [round(n * len(jobs) / parts) for n in range(parts + 1)]
    return [[*jobs[one:other]] for one, other in pairwise(edges)]
