"""However a group is spread over devices, and however many take turns, it learns the same."""

import jax
import numpy as np
import pytest
from jax.sharding import Mesh
from tests.tiny_training import Listener, largest_difference, training

from daxy.training import devices, replicas
from daxy.training.devices import EXAMPLES, REPLICAS

DEVICES = 4
pytestmark = pytest.mark.skipif(
    jax.default_backend() != "cpu" or jax.device_count() != DEVICES,
    reason="needs the four simulated devices that tests/conftest.py asks for",
)


@pytest.mark.parametrize(
    ("runs", "batch", "shape"),
    [
        (1, 1, (1, 1)),
        (1, 32, (1, 4)),
        (3, 32, (1, 4)),
        (4, 32, (4, 1)),
        (5, 1, (1, 1)),
        (6, 1, (3, 1)),
        (2, 6, (2, 2)),
        (20, 1, (4, 1)),
    ],
)
def test_replicas_are_spread_first_and_then_the_examples_of_each(
    runs: int, batch: int, shape: tuple[int, int]
) -> None:
    grid = devices.grid(runs, batch)
    assert (grid.shape[REPLICAS], grid.shape[EXAMPLES]) == shape


def one_device(*_: int) -> Mesh:
    return Mesh(np.array(jax.devices()[:1]).reshape(1, 1), (REPLICAS, EXAMPLES))


@pytest.mark.parametrize("seeds", [[0], [0, 1], [0, 1, 2, 3]])
def test_a_group_on_many_devices_equals_the_same_group_on_one(
    seeds: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    many, _ = training(seeds, epochs=1, dropout=0.3).fit(Listener())
    monkeypatch.setattr(replicas, "grid", one_device)
    one, _ = training(seeds, epochs=1, dropout=0.3).fit(Listener())
    assert largest_difference(many.model, one.model) < 1e-5


@pytest.mark.parametrize("seeds", [[0, 1, 2], [0, 1, 2, 3, 4, 5, 6, 7]])
def test_replicas_that_take_turns_equal_replicas_side_by_side(
    seeds: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    beside, _ = training(seeds, epochs=1, dropout=0.3).fit(Listener())
    monkeypatch.setattr(devices, "LARGE", 0)
    turns, _ = training(seeds, epochs=1, dropout=0.3).fit(Listener())
    assert largest_difference(beside.model, turns.model) < 1e-5


def test_large_networks_take_turns_and_small_ones_do_not() -> None:
    assert devices.together(3, devices.LARGE + 1) == 1
    assert devices.together(3, devices.LARGE) == 3
