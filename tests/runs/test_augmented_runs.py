"""Runs of a learner that trains on what GECA makes too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.runs.small_runs import Stopped, experiment, group_of

from daxy import tasks
from daxy.augmentation.geca import Geca
from daxy.core.errors import WrongRequest
from daxy.learners.neural import Neural
from daxy.models.luong import Config
from daxy.runs.experiment import Experiment
from daxy.runs.run import Run
from daxy.tasks import ScanOptions
from daxy.training.config import TrainingConfig
from daxy.training.interrupt import Interrupted

pytestmark = pytest.mark.usefixtures("one_shape")

RECIPE = TrainingConfig().with_settings(
    optimizer="adam",
    learning_rate=0.01,
    samples=16 * 12,
    batch_size=16,
    eval_every=4,
    select="last",
    deduplicate=True,
    augmented_share=0.3,
)
GECA = Geca(count=30)


def augmented(folder: Path, geca: Geca | None = GECA) -> Experiment:
    plain = experiment(folder, seconds=0.0)
    learner = replace(plain.learner, model="luong", config=Config(hidden=8, embedding=4))
    return replace(plain, learner=replace(learner, training=RECIPE, geca=geca))


def test_it_trains_on_each_example_once_and_on_what_was_added(tmp_path: Path) -> None:
    asked = augmented(tmp_path)
    one, other = group_of([asked.of(0), asked.of(1)]).training.data(0).train
    train = asked.of(0).split.train
    assert len(one.original) == len(other.original) == len(set(train.keys))
    assert len(one.augmented) == len(other.augmented) == 30
    assert set(one.augmented.tolist()) != set(other.augmented.tolist())
    assert not set(one.augmented.tolist()) & set(one.original.tolist())
    (plain,) = group_of([augmented(tmp_path, None).of(0)]).training.data(0).train
    assert len(plain.augmented) == 0


def test_a_run_says_what_made_its_examples_and_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    undisturbed = augmented(tmp_path / "whole").run([0])[0]
    with pytest.raises(Interrupted):
        augmented(tmp_path / "parts").run([0], monitor=Stopped(at=2))
    resumed = augmented(tmp_path / "parts").run([0])[0]
    assert (resumed.path / "model.safetensors").read_bytes() == (
        undisturbed.path / "model.safetensors"
    ).read_bytes()
    assert resumed.scores()["best_epoch"] == resumed.scores()["epochs"] == 3
    config = resumed.config()
    assert config.learner["geca"]["count"] == 30
    assert Run.of(config).learner == augmented(tmp_path).learner


def test_in_worlds_it_trains_on_what_became_of_the_training_set() -> None:
    data = tasks.data("gscan/compositional", grid=4, resampling=1, kind="normal", shots=0)
    protocol = RECIPE.with_settings(steps=8, deduplicate=False)
    network = Neural.named("multimodal", {"kernel_sizes": "1,3"}, protocol, {"count": 30})
    run = Run(task="gscan/compositional", learner=network, data=data, seed=1)
    (train,) = group_of([run]).training.data(0).train
    given, examples = run.split.train, group_of([run]).training.replicas.table
    assert (len(train.original), len(train.augmented)) == (len(given), 30)
    known = set(examples.rows(given).tolist())
    assert 0 < len(set(train.original.tolist()) - known) < len(known)


def test_epochs_pass_through_what_was_added_too(tmp_path: Path) -> None:
    """With another network, by another protocol: the smallest whole run with GECA."""
    plain = experiment(tmp_path)
    taught = replace(plain, learner=replace(plain.learner, geca=GECA))
    (run,) = taught.run([0])
    count = len(taught.of(0).split.train) + GECA.count
    batch = plain.learner.training.batch_size
    assert [record["steps"] for record in run.records()] == [
        -(-count // batch) * epoch for epoch in (1, 2, 3)
    ]


def test_an_augmentation_that_finds_nothing_is_refused(tmp_path: Path) -> None:
    asked = augmented(tmp_path, Geca(max_length=2))
    with pytest.raises(WrongRequest, match="finds nothing to add"):
        asked.run([0])
    assert not list(tmp_path.iterdir())


def test_an_augmentation_that_changes_nothing_in_place_is_refused() -> None:
    data = tasks.data("gscan/length", grid=4, resampling=1, kind="simple_trans", max_length=6)
    protocol = RECIPE.with_settings(steps=8, deduplicate=False)
    network = Neural.named("multimodal", {"kernel_sizes": "1,3"}, protocol, {"count": 0})
    run = Run(task="gscan/length", learner=network, data=data, seed=1)
    with pytest.raises(WrongRequest, match="GECA finds nothing to add"):
        group_of([run]).check()


def test_a_plateau_without_a_validation_set_is_refused(tmp_path: Path) -> None:
    asked = augmented(tmp_path)
    slower = replace(asked.learner, training=RECIPE.with_settings(lr_factor=0.5))
    without = ScanOptions(validation="none")
    with pytest.raises(WrongRequest, match="schedule plateau needs a validation set"):
        replace(asked, learner=slower, data=without).run([0])


@pytest.mark.parametrize(
    ("counted", "examples"),
    [({"steps": 7}, 7 * 16), ({"samples": 32}, 32)],
)
def test_the_examples_of_a_run_are_counted(
    counted: dict[str, int], examples: int, tmp_path: Path
) -> None:
    protocol = RECIPE.with_settings(**counted)
    asked = augmented(tmp_path)
    run = replace(asked, learner=replace(asked.learner, training=protocol)).of(0)
    assert run.learner.samples(run.split) == examples


def test_another_augmentation_is_another_run(tmp_path: Path) -> None:
    kinds = (None, GECA, Geca(count=31))
    assert len({augmented(tmp_path, geca).of(0).config.name for geca in kinds}) == 3


def test_a_network_that_sees_no_worlds_is_refused_where_there_are_some(tmp_path: Path) -> None:
    asked = replace(augmented(tmp_path), task="gscan/compositional")
    with pytest.raises(WrongRequest, match="has no input for worlds"):
        asked.run([0])
