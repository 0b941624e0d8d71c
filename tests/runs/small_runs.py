"""Run folders of a training that takes a moment."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from benchmarks.kill_and_resume import Few

from daxy.core.split import Split
from daxy.learners import Progress
from daxy.learners.neural import Neural, group
from daxy.learners.neural.group import ReplicaGroup
from daxy.models.seq2seq import Config
from daxy.runs.experiment import Experiment
from daxy.runs.folder import RunFolder
from daxy.runs.monitor import Monitor
from daxy.runs.run import Run
from daxy.runs.store import RunStore
from daxy.training.config import TrainingConfig

TASK = "scan/simple_p1"
EPOCHS = 3


@contextmanager
def shapes(most: int) -> Generator[None]:
    """Pad batches to so many shapes at most: compiling for each is what a short training costs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group, "BUCKETS", most)
        patch.setattr(group, "BUCKETS_OF_PARTS", most)
        yield


def experiment(folder: Path, seconds: float = 1e9) -> Experiment:
    """Return a training of three epochs, each one stretch and an end."""
    protocol = TrainingConfig().with_settings(epochs=EPOCHS, batch_size=16)
    learner = Neural(model="seq2seq", config=Config(hidden=8, embedding=4), training=protocol)
    data = Few()
    return Experiment(
        task=TASK, learner=learner, data=data, folder=folder, checkpoint_seconds=seconds
    )


def group_of(runs: Sequence[Run], test_every: int = 0) -> ReplicaGroup:
    """Return the networks of these runs, which train as one program."""
    store = RunStore(Path("runs"), test_every=test_every)
    return ReplicaGroup([store.job(run) for run in runs])


def split() -> Split:
    return Few().load(TASK)


@dataclass
class Spy(Monitor):
    """Remembers which groups trained; does something at a stretch of its choice."""

    at: int | None = None
    act: Callable[[], object] = lambda: os.kill(os.getpid(), signal.SIGINT)
    groups: list[tuple[int, ...]] = field(default_factory=list)
    stretches: int = 0
    ends: int = 0

    def begin(self, runs: Sequence[Run]) -> None:
        assert {(run.task, run.learner.training.budget.epochs) for run in runs} == {(TASK, EPOCHS)}
        self.groups.append(tuple(run.seed for run in runs))

    def stepped(self, progress: Progress, examples: int) -> None:
        self._count()

    def epoch_ended(self, progress: Progress) -> None:
        self._count()

    def end(self) -> None:
        self.ends += 1

    def _count(self) -> None:
        self.stretches += 1
        if self.stretches == self.at:
            self.act()


class Stopped(Spy):
    """Stops a training of any kind."""

    def begin(self, runs: object) -> None:
        del runs


def weights(folder: Path) -> dict[str, bytes]:
    """Return the selected weights of the runs in a folder by the run's name."""
    return {run.name: (run / "model.safetensors").read_bytes() for run in sorted(folder.iterdir())}


def network_bytes(folder: RunFolder) -> bytes:
    """Return the file of a run's network."""
    return (folder.path / "model.safetensors").read_bytes()
