"""Progress of a training, for the callbacks of a learner."""

from __future__ import annotations

from dataclasses import asdict

from daxy.learners._learner import Callbacks, Progress, Record
from daxy.training.config import TrainingConfig
from daxy.training.loop import TrainingCallback
from daxy.training.trainer_state import TrainerState


class CallbackAdapter(TrainingCallback):
    """Calls the callbacks of a learner during a training."""

    def __init__(self, config: TrainingConfig, callbacks: Callbacks) -> None:
        self._config, self._callbacks = config, callbacks
        self.logs: list[list[Record]] = []
        """The log records of each replica."""
        self._epoch_steps = 0

    def stepped(self, trainer: TrainerState, steps: int, examples: int) -> None:
        """Call `Callbacks.stepped`."""
        self._epoch_steps = steps
        self._callbacks.stepped(self.update(trainer), examples)

    def epoch_ended(self, trainer: TrainerState) -> None:
        """Call `Callbacks.epoch_ended`."""
        self._callbacks.epoch_ended(self.update(trainer))

    def update(self, trainer: TrainerState) -> Progress:
        """Extend the logs; return the progress."""
        self.logs = self.logs or [[] for _ in trainer.history]
        for log, history in zip(self.logs, trainer.history, strict=True):
            log.extend(map(asdict, history[len(log) :]))
        diverged = sum(trainer.diverged)
        finished = sum(trainer.stopped) - diverged
        return Progress(
            epoch=trainer.epoch,
            epochs=self._config.max_epochs,
            step=trainer.step,
            steps=self._epoch_steps,
            total=trainer.total,
            logs=self.logs,
            figures=self._figures(trainer),
            ended={"finished": finished, "diverged": diverged},
        )

    def _figures(self, trainer: TrainerState) -> dict[str, list[float]]:
        active = max(len(trainer.stopped) - sum(trainer.stopped), 1)
        loss = sum(trainer.losses) / active / max(trainer.step, 1)
        best = [score for score in trainer.best if score > 0]
        if self._config.selection.select == "perplexity":
            return {"loss": [loss], "lowest perplexity": [1 / score for score in best]}
        return {"loss": [loss], "best": best}
