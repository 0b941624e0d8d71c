"""Laws of every learner: what runs, analyses and reports rely on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import daxy
from daxy import learners, models, tasks, testing
from daxy.core.errors import DaxyError
from daxy.learners import Callbacks, Learner, Progress
from daxy.learners.neural import Neural
from daxy.reproduction.trained import train
from daxy.runs.experiment import Experiment
from daxy.runs.monitor import Monitor
from daxy.training.config import TrainingConfig

TASK = "transduction/copy"
DATA = daxy.data(
    TASK,
    train_pairs=200,
    validation_pairs=20,
    test_pairs=40,
    symbols=8,
    max_length=12,
    test_min_length=13,
    test_max_length=16,
)
"""Little data, whatever the learner."""
BRIEF = TrainingConfig().with_settings(epochs=2, batch_size=16, max_decode_length=20)


def network(folder: Path) -> Learner:
    """Return a small network; the laws of models hold for the other architectures."""
    del folder
    return Neural.named("seq2seq", {"hidden": 6, "embedding": 4}, BRIEF)


def from_file(folder: Path) -> Learner:
    """Return the learner of a file of right predictions, and one of a file of wrong ones."""
    test = DATA.load(TASK).test
    paths = []
    right = list(test.target)
    for name, targets in {"right": right, "wrong": [target[1:] for target in right]}.items():
        rows = zip(test.source, targets, strict=True)
        lines = [json.dumps({"source": source, "prediction": output}) for source, output in rows]
        paths.append(folder / f"{name}.jsonl")
        paths[-1].write_text("\n".join(lines), encoding="utf-8")
    return learners.get("predictions").of({"config": {"file": paths, "name": "my model"}})


def settings(name: str, **config: Any) -> Callable[[Path], Learner]:
    """Return a maker of the learner of that name with these settings."""
    return lambda _: learners.of_settings({"learner": name, "config": config})


LEARNERS: Mapping[str, Callable[[Path], Learner]] = {
    "neural": network,
    "nearest": settings("nearest"),
    "nearest, substituted": settings("nearest", substitute=True),
    "predictions": from_file,
}
every_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)

pytestmark = pytest.mark.usefixtures("one_shape")


def test_every_learner_is_tested() -> None:
    kinds = {name.partition(",")[0] for name in LEARNERS}
    assert kinds == {*learners.available()} - {*models.available()} | {"neural"}


@every_learner
@pytest.mark.parametrize("law", testing.LEARNER_LAWS, ids=lambda law: law.__name__)
def test_a_law_holds(
    law: Callable[[Experiment], None], make: Callable[[Path], Learner], tmp_path: Path
) -> None:
    law(Experiment(task=TASK, learner=make(tmp_path), data=DATA, folder=tmp_path / "runs"))


def test_a_perfect_predictor_scores_1(tmp_path: Path) -> None:
    scores = train(
        TASK, from_file(tmp_path), data=DATA, seeds=2, runs=tmp_path, monitor=Monitor()
    ).scores
    assert scores[0] == 1
    assert scores[1] < 1


def test_a_learner_without_worlds_refuses_a_task_with_worlds(tmp_path: Path) -> None:
    data = tasks.data("gscan/compositional", grid=4, resampling=1, kind="simple_intrans", shots=0)
    learner = settings("nearest")(tmp_path)
    experiment = Experiment(task="gscan/compositional", learner=learner, data=data)
    with pytest.raises(DaxyError, match="nearest has no input for worlds"):
        experiment.run([0])


def test_callbacks_do_nothing_by_themselves() -> None:
    progress = Progress(epoch=0, epochs=1, step=1, steps=1, total=1, logs=[[]])
    assert Callbacks().stepped(progress, 1) is Callbacks().epoch_ended(progress) is None
