"""The learner for neural networks: grouping, cost and fitting of jobs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from daxy.core.errors import DaxyError
from daxy.learners._learner import Callbacks, Fit, Job
from daxy.learners.neural import model_file
from daxy.learners.neural.epoch_data import vocabularies_of
from daxy.learners.neural.group import ReplicaGroup
from daxy.learners.neural.network import Network, network_of
from daxy.learners.neural.predictor import Predictor
from daxy.training.backend import backend, environment
from daxy.training.checkpoint import Checkpoint
from daxy.training.compilation import cache_compilations
from daxy.training.devices import use_every_core
from daxy.training.parts import Samples

MEMORY = 2**29
"""Maximum bytes of the weights of a group, with moments and best weights."""
COPIES = 4
"""Copies of each weight: current, two moments, best."""
REPLICAS = 64
"""Maximum networks of a group: larger groups are hardly faster, and all networks end together."""
STEP = 30_000
"""Fixed cost of a step, in units of one weight."""


@dataclass(frozen=True, kw_only=True)
class Neural(Network):
    """An architecture, its configuration and how it is trained."""

    def groups(self, jobs: Sequence[Job], most: int | None = None) -> list[list[Job]]:
        """Group jobs of one shape, as many as fit into memory.

        Jobs that sample examples with replacement share a program if their vocabularies are equal.
        Jobs that train in epochs share one if they have the same split: with splits of different
        sizes, the batches of a step would differ in length.
        """
        shapes: dict[object, list[Job]] = {}
        for job in jobs:
            learner = network_of(job)
            is_sampled = isinstance(learner.training.budget, Samples)
            data = vocabularies_of(job.split) if is_sampled else job.split
            shapes.setdefault((learner.shape, data), []).append(job)
        return [part for alike in shapes.values() for part in _parts(alike, most)]

    def cost(self, job: Job) -> float:
        """Return the arithmetic of a job's training, in arbitrary units."""
        return float(self.samples(job.split)) * (STEP + self.parameters(vocabularies_of(job.split)))

    def seconds(self, jobs: Sequence[Job], epochs_done: int = 0) -> float:
        """Return an upper estimate of a group's seconds, from a short run of it."""
        self.prepare()
        return ReplicaGroup(jobs).seconds(epochs_done=epochs_done)

    def epochs_done(self, workdir: Path) -> int:
        """Return the number of epochs that the checkpoint in a working folder has finished."""
        epoch = (Checkpoint.within(workdir).position() or {}).get("epoch")
        return epoch if isinstance(epoch, int) else 0

    def prepare(self) -> None:
        """Set up JAX: each core is a device, and compiled programs are cached.

        Raises:
            WrongRequest: JAX cannot start the device that its settings ask for.
        """
        cache_compilations()
        use_every_core()
        with backend():
            pass

    def owners(self, workdir: Path) -> tuple[str, ...]:
        """Return the names of the jobs of the checkpoint in a working folder; () if unknown."""
        return Checkpoint.within(workdir).owners()

    def fit(self, jobs: Sequence[Job], callbacks: Callbacks) -> Iterator[Fit | DaxyError]:
        """Train networks as one program; see `Learner.fit`."""
        self.prepare()
        group = ReplicaGroup(jobs)
        group.check()
        return group.fit(callbacks)

    def environment(self) -> dict[str, Any]:
        """Return JAX's version, the devices, and settings that affect results."""
        return environment()

    @classmethod
    def load(cls, folder: Path, settings: Mapping[str, Any]) -> Predictor:  # type: ignore
        """Return the network of a run folder.

        Raises:
            RunFailed: its file is missing or damaged.
        """
        network = cls.of(settings)
        model, vocabularies = model_file.read(folder, network)
        return Predictor(model, *vocabularies, network.max_decode_length)


def _parts(jobs: Sequence[Job], most: int | None) -> list[list[Job]]:
    """Divide jobs of one shape into as few even parts as fit into memory."""
    first = jobs[0]
    size = 4 * COPIES * network_of(first).parameters(vocabularies_of(first.split))
    fitting = most or max(1, min(REPLICAS, MEMORY // size))
    parts = math.ceil(len(jobs) / fitting)
    edges = [round(n * len(jobs) / parts) for n in range(parts + 1)]
    return [[*jobs[one:other]] for one, other in pairwise(edges)]
