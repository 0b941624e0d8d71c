"""Train a learner on a task from Python; the finished runs with their scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

from daxy import learners, tasks
from daxy.core.display import Brief, table
from daxy.core.errors import DaxyError, RunFailed, quote, require
from daxy.core.settings import check_types
from daxy.core.summary import Summary
from daxy.learners import Learner, Predictor
from daxy.learners.neural import Neural
from daxy.metrics import text
from daxy.papers import TableCell
from daxy.reproduction import published
from daxy.runs import progress
from daxy.runs.evaluate import primary_score
from daxy.runs.experiment import Experiment
from daxy.runs.folder import RunFolder
from daxy.runs.monitor import Monitor
from daxy.runs.run import seed_range
from daxy.runs.saved import load
from daxy.tasks import DatasetOptions
from daxy.training.config import TrainingConfig
from daxy.training.protocols import DEFAULT, protocol, validation


@dataclass(frozen=True, eq=False)
class Trained(Brief):
    """The finished runs of one learner on one task, one a seed."""

    experiment: Experiment
    folders: tuple[RunFolder, ...]

    @property
    def _brief(self) -> str:
        name = f"{self.experiment.task}, {self.experiment.learner.label}"
        seeds = f"{len(self.folders)} seed{'s' * (len(self.folders) != 1)}"
        try:
            metric = self.folders[0].scores()["metric"]
            return f"{name}: {metric} {self.summary.text()}%, {seeds}"
        except DaxyError:  # the folders are gone
            return f"{name}: {seeds}"

    def _repr_html_(self) -> str:
        """Return the scores of each seed as an HTML table, for a notebook."""
        runs = [(folder.config().seed, folder.scores(), folder.path) for folder in self.folders]
        metrics = list(runs[0][1]["test"])
        rows = [
            (seed, *(text(metric, scores["test"][metric]) for metric in metrics), path.name)
            for seed, scores, path in runs
        ]
        published = [f"published: {cell.printed} ({cell})" for cell in self.published]
        note = "; ".join((f"mean {self.summary.text()}", *published))
        return table(("seed", *metrics, "run folder"), rows, title=repr(self), note=note)

    @property
    def scores(self) -> list[float]:
        """The test set's primary score of each seed, between 0 and 1."""
        return [primary_score(folder.scores()) for folder in self.folders]

    @property
    def summary(self) -> Summary:
        """Mean, spread, standard error, worst and best of them."""
        return Summary(runs=tuple(self.scores))

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return self.summary.mean

    @property
    def published(self) -> list[TableCell]:
        """The published figures for this learner on this task's data, in per cent."""
        config = self.folders[0].config()
        return published.of_learner(config.task, config.learner, config.options)

    def predictor(self, seed: int) -> Predictor:
        """Return the predictor of one seed.

        Raises:
            RunFailed: there is no such seed, or its files are damaged.
        """
        for folder in self.folders:
            if folder.config().seed == seed:
                return load(folder.path)
        raise RunFailed(f"no run with seed {seed} among {[f.path.name for f in self.folders]}")


def train(
    task: str,
    learner: Learner | str = "seq2seq",
    *,
    seeds: int | Iterable[int] = 1,
    config: Mapping[str, Any] | None = None,
    training: TrainingConfig | str | None = None,
    geca: Mapping[str, Any] | None = None,
    data: DatasetOptions | None = None,
    runs: Path | str = "runs",
    monitor: Monitor | None = None,
    restart: bool = False,
    test_every: int = 0,
) -> Trained:
    """Train a learner on a task, or find the finished runs, and return them.

        >>> daxy.train("scan/simple", config={"hidden": 64}, seeds=3).mean

    Args:
        task: The task's name.
        learner: A learner, or the name of one: an architecture, or see `daxy learners`.
        seeds: Number of runs, from seed 0 on, or the seeds.
        config: Settings that differ from the defaults of the named learner.
        training: The training configuration of a network, or the name of a paper's protocol.
        geca: Settings of GECA that differ from its defaults, for a network trained with it (Andreas
            2020); None without.
        data: Options of the data; the published data unless given. Without a validation set of its
            own or a `validation` that is chosen, one is carved from train as the named protocol has
            it.
        runs: Folder of the run folders.
        monitor: Callbacks for progress. By default a terminal or a notebook shows a progress bar;
            `daxy.runs.monitor.Monitor()` shows nothing.
        restart: Delete these runs first.
        test_every: Epochs between two scores on the test set, for the log alone; 0: none.

    Raises:
        UnknownName: there is no such task, learner or protocol.
        WrongRequest: a setting has a wrong value.
        Interrupted: by a signal; asking again resumes.
        RunFailed: a run folder is damaged or cannot be written.
    """
    seeds = _seeds(seeds)
    check_types(
        train,
        {"task": task, "learner": learner, "config": config, "training": training}
        | {"geca": geca, "data": data, "runs": runs, "test_every": test_every},
    )
    if isinstance(learner, str):
        learner = _learner(task, learner, config or {}, training, geca)
    else:
        own = config is training is geca is None
        require(own, "a learner has its own settings; leave out config, training and geca")
    asked = seed_range(seeds) if isinstance(seeds, int) else [*seeds]
    carve = validation(training if isinstance(training, str) else DEFAULT)
    experiment = Experiment(
        task=task,
        learner=learner,
        data=(data or tasks.data(task)).for_training(carve),
        folder=Path(runs),
        test_every=test_every,
    )
    shown = progress.default() if monitor is None else monitor
    found = experiment.run(asked, monitor=shown, restart=restart)
    return Trained(experiment, tuple(found))


def _learner(
    task: str,
    name: str,
    config: Mapping[str, Any],
    training: TrainingConfig | str | None,
    geca: Mapping[str, Any] | None,
) -> Learner:
    """Return the learner of that name with these settings."""
    if not issubclass(learners.get(name), Neural):
        plain = training is geca is None
        require(plain, f"{name} is no network; leave out training and geca")
        return learners.of_settings({"learner": name, "config": config})
    if not isinstance(training, TrainingConfig):
        training = protocol(training or DEFAULT, is_stream=tasks.get(task).is_stream)
    return Neural.named(name, config, training, geca)


def _seeds(given: object) -> int | list[int]:
    """Return a number of seeds, or some seeds, as Python's numbers."""
    asked: list[Any] = [*given] if isinstance(given, Iterable) else [given]
    fit = all(isinstance(seed, Integral) for seed in asked)
    fit &= not any(isinstance(seed, bool) for seed in asked)
    require(fit, f"seeds must be a whole number or several, not {quote(given)}")
    numbers = [int(seed) for seed in asked]
    return numbers if isinstance(given, Iterable) else numbers[0]
