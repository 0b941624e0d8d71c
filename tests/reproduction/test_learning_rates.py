"""A grid of learning rates trains as one program; the test set has no say in what is chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.runs import small_runs
from tests.runs.test_streamed_runs import experiment

from daxy.core.errors import Diverged, WrongRequest
from daxy.reproduction.learning_rates import LearningRateSearch, search_learning_rates
from daxy.training.interrupt import Interrupted

pytestmark = pytest.mark.usefixtures("one_shape")

TOO_LARGE = 1e38
"""No weights are numbers after a step with it."""


def test_every_seed_trains_with_every_rate_as_one_program(tmp_path: Path) -> None:
    grid = search_learning_rates(experiment(tmp_path), [1e-9, 0.01], [0, 1])

    folders = [folder for trained in grid.tried.values() for folder in trained.folders]
    configs = [folder.config() for folder in folders]
    rates = [
        (config.learner["training"]["optimizer"]["learning_rate"], config.seed)
        for config in configs
    ]
    assert rates == [(1e-9, 0), (1e-9, 1), (0.01, 0), (0.01, 1)]
    assert {folder.group for folder in folders} == {tuple(config.name for config in configs)}
    assert (grid.chosen, grid.by) == (0.01, "lowest training perplexity")


def test_a_rate_that_diverges_is_left_out_and_asking_again_finds_the_others(tmp_path: Path) -> None:
    asked, heard = experiment(tmp_path), small_runs.Spy()
    grid = search_learning_rates(asked, [TOO_LARGE, 0.01], [0, 1])
    assert {*grid.tried} == {grid.chosen} == {0.01}
    search_learning_rates(asked, [0.01], [0, 1], monitor=heard)
    assert heard.groups == []
    with pytest.raises(Diverged, match=r"seed 0 \(epoch 1\), 1 \(epoch 1\)"):
        search_learning_rates(asked, [TOO_LARGE], [0, 1])


def test_what_is_asked_for_beside_an_interrupted_grid_that_diverges_is_trained_too(
    tmp_path: Path,
) -> None:
    asked = experiment(tmp_path)
    with pytest.raises(Interrupted):
        search_learning_rates(
            asked, [TOO_LARGE, 2 * TOO_LARGE], [0], monitor=small_runs.Stopped(at=1)
        )
    grid = search_learning_rates(asked, [TOO_LARGE, 2 * TOO_LARGE, 0.01], [0])
    assert {*grid.tried} == {0.01}


@dataclass
class Told:
    """A folder, or the runs with a rate, as far as a choice looks at them."""

    all: dict[str, Any]

    @property
    def folders(self) -> list[Told]:
        return [Told({name: own[place] for name, own in self.all.items()}) for place in (0, 1)]

    def scores(self) -> dict[str, Any]:
        return self.all


def chosen(by_perplexity: bool, **rates: Any) -> str:
    tried: Any = {rate: Told(own) for rate, own in rates.items()}
    return str(LearningRateSearch((0, 1), tried, by_perplexity).chosen)


def test_the_rate_of_the_run_of_least_perplexity_is_chosen() -> None:
    low = {"perplexity": [1.5, 9.0], "validation": [0.1, 0.1], "test": [0.0, 0.0]}
    even = {"perplexity": [2.0, 2.0], "validation": [0.9, 0.9], "test": [1.0, 1.0]}
    assert chosen(True, even=even, low=low) == "low"
    assert chosen(True, even=even, same=even) == "even"


def test_the_rate_of_the_best_mean_on_the_validation_set_is_chosen() -> None:
    low = {"perplexity": [1.5, 9.0], "validation": [1.0, 0.1], "test": [1.0, 1.0]}
    even = {"perplexity": [2.0, 2.0], "validation": [0.6, 0.6], "test": [0.0, 0.0]}
    assert chosen(False, low=low, even=even) == "even"


def test_on_the_validation_set_a_network_that_diverged_counts_as_wrong() -> None:
    class Half(Told):
        folders = property(lambda self: Told.folders.fget(self)[:1])  # pyright: ignore

    lost: Any = Half({"validation": [0.8, None]})
    both: Any = Told({"validation": [0.5, 0.5]})
    assert LearningRateSearch((0, 1), {0.1: lost, 0.2: both}, by_perplexity=False).chosen == 0.2


@pytest.mark.parametrize(
    ("rates", "seeds", "said"),
    [
        ([0.1, 0.1], [0], "expected different learning rates"),
        ([], [0], "expected different learning rates, at least one"),
        ([0.1, -0.1], [0], "learning-rate must be positive"),
        ([0.1], [0, 0], "expected different seeds"),
    ],
)
def test_rates_and_seeds_that_cannot_be_are_refused(
    rates: list[float], seeds: list[int], said: str, tmp_path: Path
) -> None:
    with pytest.raises(WrongRequest, match=said):
        search_learning_rates(experiment(tmp_path), rates, seeds)
    assert [*tmp_path.iterdir()] == []


def test_without_a_validation_set_there_is_nothing_to_choose_by(tmp_path: Path) -> None:
    without = replace(small_runs.experiment(tmp_path), data=small_runs.Few(validation="none"))
    with pytest.raises(WrongRequest, match="no validation set .*; expected one, or --select perpl"):
        search_learning_rates(without, [0.1], [0])
