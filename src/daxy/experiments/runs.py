"""Make sure that runs exist: find the finished, resume the interrupted, train the missing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from safetensors.numpy import save

from daxy import tasks
from daxy.core.errors import RunFailed, require
from daxy.core.examples import Examples, Sequences
from daxy.core.files import write_bytes
from daxy.core.split import Split
from daxy.experiments.environment import describe
from daxy.experiments.request import RunConfig, run_config
from daxy.experiments.run_folder import RunFolder
from daxy.formats import predictions as prediction_files
from daxy.learners.neural import Fitted, Neural
from daxy.tasks import Data
from daxy.training.checkpoint import Checkpoint
from daxy.training.compilation import keep_compilations
from daxy.training.devices import use_every_core
from daxy.training.loop import Position


class Watcher(Protocol):
    """What hears how a group of runs gets on; a progress display, or nobody."""

    def begins(self, task: str, seeds: Sequence[int], epochs: int) -> None:
        """Training of these seeds begins, or goes on."""
        ...

    def stepped(self, position: Position, steps: int, examples: int) -> None:
        """See `daxy.training.loop.Listener`."""
        ...

    def epoch_ended(self, position: Position) -> None:
        """See `daxy.training.loop.Listener`."""
        ...

    def ended(self) -> None:
        """Training of the group ended, or was interrupted."""
        ...


class Silent:
    """A watcher that says nothing."""

    def begins(self, task: str, seeds: Sequence[int], epochs: int) -> None:
        """Ignore it."""

    def stepped(self, position: Position, steps: int, examples: int) -> None:
        """Ignore it."""

    def epoch_ended(self, position: Position) -> None:
        """Ignore it."""

    def ended(self) -> None:
        """Ignore it."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One learner on one task's data, for any number of seeds."""

    task: str
    learner: Neural
    data: Data = field(default_factory=Data)
    folder: Path = Path("runs")
    """Where run folders are found and made."""
    checkpoint_seconds: float = 30.0

    def run(
        self, seeds: Sequence[int], *, watcher: Watcher | None = None, restart: bool = False
    ) -> list[RunFolder]:
        """Return the finished run of each seed, training those that are missing.

        Runs that were interrupted together are resumed together, to the same bits. `restart`
        deletes what there is of the asked runs first.

        Raises:
            Interrupted: by a signal; asking again resumes.
            RunFailed: a run folder is damaged or cannot be written.
        """
        require(len(set(seeds)) == len(seeds) > 0, f"seeds must differ, and be some: {list(seeds)}")
        require(min(seeds) >= 0, f"a seed must not be negative: {min(seeds)}")
        self.check_folder()
        keep_compilations()
        use_every_core()
        split = self.data.load(self.task)
        runs = {seed: self._run(split, seed) for seed in seeds}
        if restart:
            for folder, _ in runs.values():
                shutil.rmtree(folder.path, ignore_errors=True)
        missing = [seed for seed, (folder, _) in runs.items() if not folder.is_done()]
        while missing:
            group = self._group(split, missing)
            self._train(split, group, watcher or Silent())
            missing = [seed for seed in missing if seed not in group]
        return [folder for folder, _ in runs.values()]

    def check_folder(self) -> None:
        """Refuse a place for run folders that cannot have any.

        Raises:
            RunFailed: it is a file.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise RunFailed(f"cannot write {self.folder}: it is not a folder")

    def _run(self, split: Split, seed: int) -> tuple[RunFolder, RunConfig]:
        config = run_config(self.task, self.data, split, self.learner.settings(), seed)
        return RunFolder(self.folder / config.name), config

    def _group(self, split: Split, missing: Sequence[int]) -> list[int]:
        """Return the seeds to train as one program: an interrupted group, else all new ones."""
        new: list[int] = []
        for seed in missing:
            names = self._run(split, seed)[0].environment().get("group", [])
            first = RunFolder(self.folder / names[0]) if names else None
            # The first run may have begun anew since, in another group: its word decides.
            if first and first.checkpoint.exists() and first.environment().get("group") == names:
                return [RunFolder(self.folder / name).config().seed for name in names]
            new.append(seed)
        return new

    def _train(self, split: Split, seeds: Sequence[int], watcher: Watcher) -> None:
        runs = [self._run(split, seed) for seed in seeds]
        folders = [folder for folder, _ in runs]
        checkpoint = Checkpoint(folders[0].checkpoint)
        begun = checkpoint.path.exists()
        names = [folder.path.name for folder in folders]
        environment = folders[0].environment() if begun else describe(names)
        for folder, config in runs:
            if not (begun and folder.environment()):
                folder.begin(config, environment)
        watcher.begins(self.task, seeds, self.learner.protocol.most_epochs)
        try:
            fitted = self.learner.fit(
                split,
                seeds,
                score=self._score,
                listener=_Logging(folders, watcher),
                checkpoint=checkpoint,
                checkpoint_seconds=self.checkpoint_seconds,
            )
        finally:
            watcher.ended()
        self._finish(split, folders, fitted)
        shutil.rmtree(checkpoint.path.parent, ignore_errors=True)

    def _score(self, examples: Examples, predictions: Sequences) -> float:
        task = tasks.get(self.task)
        return task.totals(examples, predictions)[task.metric]

    def _finish(self, split: Split, folders: Sequence[RunFolder], fitted: Fitted) -> None:
        """Write each run's weights, predictions and scores; what is done stays as it is."""
        task = tasks.get(self.task)
        for replica, (folder, found) in enumerate(
            zip(folders, fitted.predict(split.test), strict=True)
        ):
            if folder.is_done():
                continue
            history = fitted.history(replica)
            write_bytes(folder.model, save(fitted.weights(replica), self._model_metadata(fitted)))
            values = task.scores(split.test, found)
            prediction_files.write(folder.predictions, split.test, found, values)
            best = history[fitted.position.best_epoch[replica] - 1]
            folder.finish(
                {
                    "metric": task.metric,
                    "test": task.totals(split.test, found),
                    "test_examples": len(split.test),
                    "validation": best.validation,
                    "best_epoch": best.epoch,
                    "epochs": len(history),
                    "steps": history[-1].steps,
                    "seconds": sum(record.seconds for record in history),
                    "statistics": task.statistics(split),
                }
            )

    def _model_metadata(self, fitted: Fitted) -> dict[str, str]:
        """Return the vocabularies, as one entry: several would be written in any order."""
        table = fitted.replicas.table
        vocabularies = {"source": table.sources.tokens, "target": table.targets.tokens}
        return {"vocabularies": json.dumps(vocabularies)}


class _Logging:
    """A listener that writes each epoch into each run's log, and passes everything on."""

    def __init__(self, folders: Sequence[RunFolder], watcher: Watcher) -> None:
        self._folders = folders
        self._watcher = watcher
        self._logged: list[int] | None = None
        """Records in each run's log; None until the logs are known to end where training is."""

    def stepped(self, position: Position, steps: int, examples: int) -> None:
        self._catch_up(position)
        self._watcher.stepped(position, steps, examples)

    def epoch_ended(self, position: Position) -> None:
        logged = self._catch_up(position)
        for replica, history in enumerate(position.history):
            if not self._folders[replica].has_ended:
                for record in history[logged[replica] :]:
                    self._folders[replica].log(record)
            logged[replica] = len(history)
        self._watcher.epoch_ended(position)

    def _catch_up(self, position: Position) -> list[int]:
        """Return how many records each log holds, after the first call exactly those there are.

        A killed run may have logged an epoch that its checkpoint does not know of. A resumed one
        may hear of an epoch's end before any step.
        """
        if self._logged is None:
            self._logged = [len(history) for history in position.history]
            for folder, history in zip(self._folders, position.history, strict=True):
                if not folder.has_ended:
                    folder.write_log(history)
        return self._logged


def seeds_from(count: int, first: int = 0) -> list[int]:
    """Return `count` seeds from `first` on."""
    require(count > 0, f"seeds must be positive, not {count}")
    return list(range(first, first + count))


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation over runs: of the population, as the papers print it.

    That it is the population's shows in Table 9 of Bastings et al. (2018): 66.7 +- 5.9 over three
    runs of eight sentences can only be 62.5, 62.5 and 75.0, whose sample deviation would be 7.2.
    """
    mean = sum(values) / len(values)
    return mean, (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5


def primary(scores: dict[str, Any]) -> float:
    """Return the figure that papers print of a run's scores."""
    return scores["test"][scores["metric"]]
