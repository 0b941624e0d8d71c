"""Laws of tasks, metrics, formats and learners, for the tests of a package that adds one.

    from daxy import testing

    def test_the_laws() -> None:
        testing.check_task("echo/thrice")
        testing.check_metric("first_token", "echo/thrice")
        testing.check_format("arrows", "echo/thrice")
        testing.check_learner("commonest", "echo/thrice")

A law that does not hold is an `AssertionError` that says which. `daxy.data` chooses other data:
`check_task("gscan/length", daxy.data("gscan/length", grid=4))`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from daxy import formats, learners, metrics, tasks
from daxy.core.errors import WrongRequest
from daxy.core.examples import Predictions, Sequences, Tokens
from daxy.core.split import Split
from daxy.formats import Format, pairs
from daxy.formats import predictions as prediction_files
from daxy.learners import Learner, Progress
from daxy.runs.experiment import Experiment
from daxy.runs.monitor import Monitor
from daxy.tasks import DatasetOptions, Task
from daxy.tasks._by_rules import NoRules

BY_RULES = 20
"""Test examples that are compared with the rules of a task."""
SEEDS = (0, 1)


def check_task(name: str, data: DatasetOptions | None = None) -> None:
    """Check a task by all laws of tasks, on its published data unless given."""
    task, chosen = tasks.get(name), data or tasks.data(name)
    split = task.split(chosen)
    card(task)
    if data is None:
        published_sizes(task, split)
    for law in TASK_LAWS:
        law(task, chosen, split)


def check_metric(name: str, task: str, data: DatasetOptions | None = None) -> None:
    """Check a metric on the test set of a task: a value depends on its own example alone."""
    asked, test = tasks.get(task), (data or tasks.data(task)).load(task).test
    right, half = _with_likelihoods(test.target), len(test) // 2
    scores = asked.score(name, test, right)
    rest = asked.score(name, test[half:], right[half:])
    _hold(np.array_equal(scores[half:], rest), f"{name}: a value depends on other examples")
    is_right = not metrics.is_share(name) or asked.total(name, test, right) == 1
    _hold(is_right, f"{name}: the targets as predictions do not score 1")
    asked.total(name, test, _with_likelihoods(Sequences.of([()] * len(test))))


def check_format(name: str, task: str, data: DatasetOptions | None = None) -> None:
    """Check a format on the data of a task: what is written is read again."""
    with tempfile.TemporaryDirectory() as folder:
        split = (data or tasks.data(task)).load(task)
        written_and_read(formats.get(name), split, Path(folder))


def check_learner(learner: str | Learner, task: str, data: DatasetOptions | None = None) -> None:
    """Check a learner by all laws of learners, with two seeds on the data of a task.

    Args:
        learner: A learner, as `Neural.named("bag", {}, TrainingConfig())` for a network; or the
            name of one without a network, with its default settings.
        task: The task.
        data: The options of its data; as published by default.
    """
    if isinstance(learner, str):
        learner = learners.of_settings({"learner": learner, "config": {}})
    experiment = Experiment(task=task, learner=learner, data=data or tasks.data(task))
    for law in LEARNER_LAWS:
        with tempfile.TemporaryDirectory() as folder:
            law(replace(experiment, folder=Path(folder)))


def _hold(is_so: bool, problem: str) -> None:
    if not is_so:
        raise AssertionError(problem)


def _with_likelihoods(sequences: Sequences) -> Predictions:
    """Return sequences as predictions of certain targets."""
    likelihoods = np.zeros(len(sequences), np.float64)
    return replace(Predictions.of_sequences(sequences), log_likelihood=likelihoods)


def card(task: Task[Any]) -> None:
    """A task is found by its name, and its card has what users look for."""
    _hold(tasks.get(task.name) is task, f"{task.name}: the task of this name is another one")
    facts = [task.name, task.summary]
    if files := task.files():
        facts += [files.home, files.licence, *files.sha256.values()]
    for fact in facts:
        _hold(fact in task.card, f"{task.name}: its card lacks {fact!r}")
    same = task.family.partition("/")[0] == task.name.partition("/")[0]
    _hold(same, f"{task.name}: its family is {task.family!r}, of another benchmark")


def published_sizes(task: Task[Any], split: Split) -> None:
    """A split has the sizes that its task states."""
    sizes = split.provenance.sizes
    _hold(sizes == task.sizes, f"{task.name}: its split has {sizes}; expected {task.sizes}")


def unseen_tests(task: Task[Any], data: DatasetOptions, split: Split) -> None:
    """No test example is in train or validation."""
    del data
    seen = {*split.test.keys} & {*split.train.keys, *split.validation.keys}
    _hold(not seen, f"{task.name}: {len(seen)} test examples are in train or validation")


def distinct_tests(task: Task[Any], data: DatasetOptions, split: Split) -> None:
    """Every test example is there once."""
    del data
    repeated = len(split.test) - len({*split.test.keys})
    _hold(not repeated, f"{task.name}: {repeated} test examples are repeated")


def same_seed(task: Task[Any], data: DatasetOptions, split: Split) -> None:
    """The same options give the same split."""
    again = task.split(data).provenance
    _hold(again == split.provenance, f"{task.name}: the same options give another split")


def written_choices(task: Task[Any], data: DatasetOptions, split: Split) -> None:
    """Options can be written as JSON and read again."""
    del split
    again = tasks.data(task.name, **json.loads(json.dumps(data.choices))).choices
    _hold(again == data.choices, f"{task.name}: options read from JSON are {again}")


def right_targets(task: Task[Any], data: DatasetOptions, split: Split) -> None:
    """Targets are perfect predictions, and right by the rules if the task has any."""
    del data
    test = split.test
    for metric in filter(metrics.is_share, task.metrics):
        total = task.total(metric, test, _with_likelihoods(test.target))
        _hold(total == 1, f"{task.name}: the targets score {total} by {metric}; expected 1")
    for example in test[:BY_RULES]:
        world = example.world if task.grounded else None
        source = " ".join(example.source)
        _hold(task.read(source) == example.source, f"{task.name}: {source!r} is not read as it is")
        try:
            targets = task.targets(example.source, world)
        except NoRules:
            return
        _hold(example.target in targets, f"{task.name}: by its rules {source!r} has another target")


TASK_LAWS: Sequence[Callable[[Task[Any], DatasetOptions, Split], None]] = (
    unseen_tests,
    distinct_tests,
    same_seed,
    written_choices,
    right_targets,
)


def written_and_read(form: Format, split: Split, folder: Path) -> None:
    """What is written is read again; worlds are kept or refused."""
    path = folder / f"file{form.suffix}"
    parts = split.named if form.has_parts else {"test": split.test}
    if split.test.worlds is not None and not form.has_worlds:
        try:
            form.write(path, parts, split.provenance)
        except WrongRequest:
            return
        raise AssertionError(f"{form.name}: worlds are dropped; expected `WrongRequest`")
    form.write(path, parts, split.provenance)
    missing = [file for file in form.files(path) if not file.is_file()]
    _hold(not missing, f"{form.name}: `files` names {missing[:1]}, which was not written")
    known = pairs.read(path).form
    _hold(known == form.name, f"{form.name}: its file is taken for one in {known}")
    read = [key for part in form.read(path).values() for key in part.keys]
    wanted = [key for part in parts.values() for key in part.keys]
    _hold(sorted(read) == sorted(wanted), f"{form.name}: other examples are read than were written")


@dataclass
class _Interrupting(Monitor):
    """Interrupts training after some steps."""

    left: int = 2

    def stepped(self, progress: Progress, examples: int) -> None:
        """Count the calls, and interrupt the last one."""
        del progress, examples
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


def settings_as_json(experiment: Experiment) -> None:
    """Settings can be written as JSON, and make the same learner again."""
    settings = experiment.learner.settings()
    again = learners.of_settings(json.loads(json.dumps(settings))).settings()
    _hold(again == settings, f"{experiment.learner.label}: settings read from JSON are {again}")


def saved_predictor(experiment: Experiment) -> None:
    """A loaded predictor predicts what its run has written, with the same scores."""
    task, test, name = tasks.get(experiment.task), experiment.of(0).split.test, "a loaded predictor"
    for folder, outputs in zip(experiment.run(SEEDS), _outputs(experiment), strict=True):
        written = prediction_files.stored(folder.predictions)
        problem = f"{experiment.learner.label}: {name} predicts something else than its run"
        _hold(outputs == list(written), problem)
        problem = f"{experiment.learner.label}: {name} has other scores than its run"
        _hold(task.totals(test, written) == folder.scores()["test"], problem)


def same_seeds(experiment: Experiment) -> None:
    """The same seed gives the same predictions."""
    one, other = (_outputs(_within(experiment, name)) for name in ("one", "other"))
    _hold(one == other, f"{experiment.learner.label}: the same seed gives other predictions")


def interrupted(experiment: Experiment) -> None:
    """A run that was interrupted gives the same predictions."""
    parts = replace(_within(experiment, "parts"), checkpoint_seconds=0.0)
    with suppress(KeyboardInterrupt):
        parts.run(SEEDS, monitor=_Interrupting())
    is_same = _outputs(parts) == _outputs(_within(experiment, "whole"))
    problem = f"{experiment.learner.label}: an interrupted run gives other predictions"
    _hold(is_same, problem)


LEARNER_LAWS: Sequence[Callable[[Experiment], None]] = (
    settings_as_json,
    saved_predictor,
    same_seeds,
    interrupted,
)


def _within(experiment: Experiment, name: str) -> Experiment:
    return replace(experiment, folder=experiment.folder / name)


def _outputs(experiment: Experiment) -> list[list[Tokens]]:
    """Return the outputs of each run's saved predictor for the test set."""
    learner, test = experiment.learner, experiment.of(0).split.test
    settings = learner.settings()
    folders = experiment.run(SEEDS)
    return [list(learner.load(folder.path, settings).predict(test)) for folder in folders]
