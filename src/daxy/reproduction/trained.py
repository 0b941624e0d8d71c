"""Train a learner on a task from Python, and look at its scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

from daxy import learners, tasks, trackers
from daxy.core.display import Brief, table
from daxy.core.errors import DaxyError, RunFailed, quote, require
from daxy.core.settings import check_types
from daxy.core.split import Split, checksum
from daxy.core.summary import Summary
from daxy.formats import parquet
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
from daxy.tasks._pairs_options import NONE, PUBLISHED
from daxy.tasks.pairs import PairsTask
from daxy.training.config import TrainingConfig
from daxy.training.protocols import DEFAULT, protocol, validation


@dataclass(frozen=True, eq=False)
class Trained(Brief):
    """Finished runs of one learner on one task, one per seed."""

    experiment: Experiment
    folders: tuple[RunFolder, ...]

    @property
    def _brief(self) -> str:
        name = f"{self.experiment.task}, {self.experiment.learner.label}"
        seeds = f"{len(self.folders)} seed{'s' * (len(self.folders) != 1)}"
        try:
            metric = self.folders[0].scores()["metric"]
            return f"{name}: {metric} {self.summary.text()}%, {seeds}"
        except DaxyError:  # The folders were deleted.
            return f"{name}: {seeds}"

    def _repr_html_(self) -> str:
        """Return the scores of each seed as an HTML table, for notebooks."""
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
        """Primary test score of each seed, between 0 and 1."""
        return [primary_score(folder.scores()) for folder in self.folders]

    @property
    def summary(self) -> Summary:
        """Mean, standard deviation, standard error and range of the scores."""
        return Summary(runs=tuple(self.scores))

    @property
    def mean(self) -> float:
        """Mean score over seeds."""
        return self.summary.mean

    @property
    def published(self) -> list[TableCell]:
        """Published scores of this learner on this task's data, in per cent."""
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
    task: str | Split,
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
    log: str | Sequence[str] = (),
) -> Trained:
    """Train a learner on a task and return its runs; finished runs are reused.

        >>> daxy.train("scan/simple", config={"hidden": 64}, seeds=3).mean

    Args:
        task: The task's name, or a split. A split of `daxy.pairs` is kept in the folder of the
            runs, so that they resume and can be analysed.
        learner: A learner or its name: see `daxy learners`.
        seeds: Number of seeds, from 0 on, or a list of seeds.
        config: Settings that differ from the defaults of the named learner.
        training: Training configuration of a network, or the name of a paper's protocol.
        geca: Settings of GECA (Andreas 2020) that differ from its defaults; None trains without
            GECA.
        data: Data options; by default the published data. If the task has no validation set and
            `validation` is not set, the protocol carves one from the training set.
        runs: Folder of the run folders.
        monitor: Progress callbacks. By default a terminal or a notebook shows a progress bar;
            `daxy.runs.monitor.Monitor()` shows nothing.
        restart: Delete these runs first.
        test_every: Epochs between two test scores in the log; 0 for none.
        log: Trackers that get the log too: `tensorboard`, `wandb` or `mlflow`, or several.

    Raises:
        UnknownName: there is no such task, learner, protocol or tracker.
        WrongRequest: a setting has a wrong value, or a package is not installed.
        Interrupted: by a signal; the same call resumes.
        RunFailed: a run folder is damaged or cannot be written.
    """
    seeds = _seeds(seeds)
    check_types(
        train,
        {"task": task, "learner": learner, "config": config, "training": training}
        | {"geca": geca, "data": data, "runs": runs, "test_every": test_every, "log": log},
    )
    if isinstance(task, Split):
        require(data is None, "a split has its data; leave out data")
        task, data = _kept(task, Path(runs))
    if isinstance(learner, str):
        learner = _learner(task, learner, config or {}, training, geca)
    else:
        require(
            config is training is geca is None,
            "a learner has its own settings; leave out config, training and geca",
        )
    all_seeds = seed_range(seeds) if isinstance(seeds, int) else [*seeds]
    carve = validation(training if isinstance(training, str) else DEFAULT)
    experiment = Experiment(
        task=task,
        learner=learner,
        data=(data or tasks.data(task)).for_training(carve),
        folder=Path(runs),
        test_every=test_every,
        trackers=trackers.listed(log),
    )
    monitor = progress.default() if monitor is None else monitor
    folders = experiment.run(all_seeds, monitor=monitor, restart=restart)
    return Trained(experiment, tuple(folders))


def _kept(split: Split, runs: Path) -> tuple[str, DatasetOptions]:
    """Return the task and the options of a split's data, which is kept in a file if need be.

    Raises:
        WrongRequest: the split has worlds, and is not generated by a task as it is.
        RunFailed: the file cannot be written.
    """
    about = split.provenance
    if about.source == "generated" and not about.part and split.is_as_described:
        return about.task, tasks.data(about.task, seed=about.seed, **dict[str, Any](about.options))
    is_own = tasks.exists(about.task) and isinstance(tasks.get(about.task), PairsTask)
    name = about.task if is_own else "pairs"
    has_worlds = split.train.worlds is not None and not tasks.get(name).grounded
    require(not has_worlds, "a split with worlds is trained on as its task generates it")
    path = runs / ".pairs" / f"{checksum((split.train, split.validation, split.test))}.parquet"
    parts = {name: part for name, part in split.named.items() if len(part)}
    if not path.exists():
        parquet.write(path, parts, about)
    has_none = about.options.get("validation") == NONE
    return name, tasks.get(name).options(train=path, validation=NONE if has_none else PUBLISHED)


def _learner(
    task: str,
    name: str,
    config: Mapping[str, Any],
    training: TrainingConfig | str | None,
    geca: Mapping[str, Any] | None,
) -> Learner:
    """Return the learner with this name and these settings."""
    if not issubclass(learners.get(name), Neural):
        require(training is geca is None, f"{name} is no network; leave out training and geca")
        return learners.of_settings({"learner": name, "config": config})
    if not isinstance(training, TrainingConfig):
        training = protocol(training or DEFAULT, is_stream=tasks.get(task).is_stream)
    return Neural.named(name, config, training, geca)


def _seeds(value: object) -> int | list[int]:
    """Return a number of seeds, or a list of seeds, as Python integers."""
    seeds: list[Any] = [*value] if isinstance(value, Iterable) else [value]
    are_integers = all(isinstance(seed, Integral) for seed in seeds)
    are_integers &= not any(isinstance(seed, bool) for seed in seeds)
    require(are_integers, f"seeds must be a whole number or several, not {quote(value)}")
    integers = [int(seed) for seed in seeds]
    return integers if isinstance(value, Iterable) else integers[0]
