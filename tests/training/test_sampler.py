"""In which order a recipe meets its examples."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tiny_training import examples, table

from daxy.training.config import TrainingConfig
from daxy.training.sampler import BatchSampler, TrainingSet

DRAWS = TrainingConfig().with_settings(
    batch_size=16, samples=16 * 500, eval_every=500, augmented_share=0.3
)
ROWS = table().rows(examples())
TRAIN = TrainingSet(np.concatenate([ROWS[:10], ROWS[:1]]), ROWS[18:])


def added(protocol: TrainingConfig, train: TrainingSet = TRAIN) -> float:
    """Return which share of the draws is of what an augmentation added."""
    met = BatchSampler(protocol, table()).epoch(train, seed=0, number=0).rows
    return float(np.isin(met, ROWS[18:]).mean())


def test_what_was_added_is_drawn_as_often_as_the_recipe_says() -> None:
    spread = (0.3 * 0.7 / 8000) ** 0.5
    assert abs(added(DRAWS) - 0.3) < 4 * spread


def test_without_a_share_all_lines_are_drawn_alike() -> None:
    share = len(TRAIN.augmented) / len(TRAIN.rows)
    spread = (share * (1 - share) / 8000) ** 0.5
    assert abs(added(DRAWS.with_settings(augmented_share=0.0)) - share) < 4 * spread


def test_a_share_of_nothing_is_nothing() -> None:
    alone = TrainingSet(TRAIN.original)
    np.testing.assert_array_equal(alone.odds(0.3), alone.odds(0.0))
    assert added(DRAWS, alone) == 0


@pytest.mark.parametrize(("size", "parts"), [(1, 1), (8, 1), (16, 2), (64, 4), (200, 5)])
def test_a_batch_of_any_lengths_is_padded_in_parts(size: int, parts: int) -> None:
    counted = {"steps": TrainingConfig().with_settings(steps=9, batch_size=size)}
    counted["draws"] = TrainingConfig().with_settings(samples=9 * size, batch_size=size)
    assert {BatchSampler(each, table()).parts for each in counted.values()} == {parts}
    assert BatchSampler(TrainingConfig().with_settings(batch_size=size), table()).parts == 1
