"""A trained group of networks, and the predictor of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import jax

from daxy.core.examples import Examples, Sequences
from daxy.learners._learner import Job
from daxy.learners.neural.model_file import write
from daxy.training.backend import backend
from daxy.training.checkpoint import Arrays, named_arrays
from daxy.training.loop import one_replica
from daxy.training.replicas import Replicas
from daxy.training.step import State
from daxy.training.trainer_state import TrainerState

HeldOut: TypeAlias = Literal["validation", "test"]


@dataclass(frozen=True, eq=False)
class FittedGroup:
    """A trained group; its networks predict together."""

    jobs: Sequence[Job]
    replicas: Replicas
    state: State
    trainer: TrainerState
    _outputs: dict[HeldOut, list[Sequences]] = field(default_factory=dict, init=False)

    def outputs(self, part: HeldOut) -> list[Sequences]:
        """Return each network's greedy outputs for a part of its own split."""
        if part not in self._outputs:
            self._outputs[part] = self.predict([getattr(job.split, part) for job in self.jobs])
        return self._outputs[part]

    @backend()
    def predict(self, parts: Sequence[Examples]) -> list[Sequences]:
        """Return each network's greedy outputs for examples of its own split.

        Generated examples of online training are not in the table.
        """
        table = self.replicas.table
        rows = [table.rows(examples) for examples in parts]
        outputs = self.replicas.decode(self.state.best, rows)
        return [table.targets.decode(codes) for codes in outputs]

    @backend()
    def weights(self, replica: int) -> Arrays:
        """Return one network's best weights by name."""
        # On the device, each leaf would be sliced by a program of its own.
        return named_arrays(one_replica(jax.device_get(self.state.best), replica))

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
class ReplicaPredictor:
    """The predictor of one network of a trained group."""

    group: FittedGroup
    replica: int

    def predict(self, examples: Examples) -> Sequences:
        """Return the greedy outputs; for a part of its own split all networks decode together."""
        split = self.group.jobs[self.replica].split
        if examples is split.test:
            return self.group.outputs("test")[self.replica]
        if examples is split.validation:
            return self.group.outputs("validation")[self.replica]
        parts = [job.split.test[:0] for job in self.group.jobs]
        parts[self.replica] = examples
        return self.group.predict(parts)[self.replica]

    def save(self, folder: Path) -> list[str]:
        """Write the best weights and the vocabularies."""
        vocabularies = self.group.replicas.table.vocabularies
        return [write(folder, self.group.weights(self.replica), vocabularies)]
