"""However a group is spread over devices, and however many take turns, it learns the same."""

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import Mesh
from tests import tiny_training

from daxy.models.seq2seq import Config
from daxy.training import devices, placement, replicas
from daxy.training.devices import EXAMPLES, REPLICAS

DEVICES = 4
PLAIN = Config(hidden=6, embedding=4, attention=False)
"""A network that is compiled quickly."""
pytestmark = pytest.mark.skipif(
    jax.default_backend() != "cpu" or jax.device_count() != DEVICES,
    reason="needs the four simulated devices that tests/conftest.py asks for",
)


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    """Neither find nor leave programs of other devices."""
    tiny_training.replicas.cache_clear()
    yield
    tiny_training.replicas.cache_clear()


@pytest.mark.parametrize(
    ("runs", "batch", "shape"),
    [
        (1, 1, (1, 1)),
        (1, 32, (1, 4)),
        (1, 31, (1, 1)),
        (1, 16, (1, 2)),
        (1, 8, (1, 1)),
        (3, 32, (1, 4)),
        (4, 32, (4, 1)),
        (5, 1, (3, 1)),
        (5, 32, (1, 4)),
        (6, 1, (3, 1)),
        (7, 1, (4, 1)),
        (9, 1, (3, 1)),
        (2, 16, (2, 2)),
        (2, 14, (2, 1)),
        (20, 1, (4, 1)),
    ],
)
def test_replicas_are_spread_first_and_then_the_examples_of_each(
    runs: int, batch: int, shape: tuple[int, int]
) -> None:
    grid = devices.grid(runs, devices.cuts(batch))
    assert (grid.shape[REPLICAS], grid.shape[EXAMPLES]) == shape


@pytest.mark.parametrize(
    ("runs", "batch", "shape"),
    [(1, 32, (1, 4)), (3, 1, (3, 1)), (3, 32, (2, 2)), (5, 1, (4, 1)), (2, 16, (2, 2))],
)
def test_replicas_that_take_turns_are_spread_evenly_whatever_their_number(
    runs: int, batch: int, shape: tuple[int, int]
) -> None:
    grid = devices.grid(runs, devices.cuts(batch), in_turns=True)
    assert (grid.shape[REPLICAS], grid.shape[EXAMPLES]) == shape


def trained(seeds: list[int]) -> tuple[Any, int]:
    """Return the weights after an epoch, of programs compiled anew, and on how many devices."""
    tiny_training.replicas.cache_clear()
    training = tiny_training.training(seeds, None, config=PLAIN, epochs=1, dropout=0.3)
    state, _ = training.fit(tiny_training.Listener())
    used = {it for mesh in training.replicas.placement.meshes for it in mesh.devices.flat}
    return state.model, len(used)


def one_device(*_: Any, **__: Any) -> Mesh:
    return Mesh(np.array(jax.devices()[:1]).reshape(1, 1), (REPLICAS, EXAMPLES))


@pytest.mark.parametrize("seeds", [[0], [0, 1]])
def test_a_group_on_many_devices_equals_the_same_group_on_one(
    seeds: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "LEAST", 1)
    many, used = trained(seeds)
    assert used == DEVICES
    for module in (placement, replicas):
        monkeypatch.setattr(module, "grid", one_device)
    one, used = trained(seeds)
    assert used == 1
    assert tiny_training.largest_difference(many, one) < 1e-5


@pytest.mark.parametrize(("count", "rows"), [(5, 3)])
def test_a_group_that_does_not_fill_its_devices_equals_the_same_group_on_one(
    count: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    many, used = trained(list(range(count)))
    assert used == rows
    for module in (placement, replicas):
        monkeypatch.setattr(module, "grid", one_device)
    one, _ = trained(list(range(count)))
    assert tiny_training.largest_difference(many, one) < 1e-5


@pytest.mark.parametrize(("count", "each"), [(5, 1), (14, 3)])
def test_replicas_that_take_turns_equal_replicas_side_by_side(
    count: int, each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = list(range(count))
    beside, _ = trained(seeds)
    monkeypatch.setattr(placement, "side_by_side", lambda *_: each)
    assert len(tiny_training.training(seeds, config=PLAIN).replicas.start()) == -(-count // each)
    turns, _ = trained(seeds)
    assert tiny_training.largest_difference(beside, turns) < 1e-5


def test_batches_of_replicas_that_take_turns_are_spread_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(devices, "ROOM", 0)
    whole, _ = trained([0, 1])
    monkeypatch.setattr(devices, "LEAST", 1)
    spread, _ = trained([0, 1])
    assert tiny_training.largest_difference(whole, spread) < 1e-5


def test_a_finished_replica_skips_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "ROOM", 0)
    for module in (placement, replicas):
        monkeypatch.setattr(module, "grid", one_device)
    group = tiny_training.training([0, 1]).replicas
    start = group.start()
    before = [tiny_training.bits(own) for own in start]
    nobody = tiny_training.idle(steps=3, replicas=2)
    first = nobody._replace(
        weights=nobody.weights.at[:, 0].set(0.25), active=nobody.active.at[:, 0].set(True)
    )
    state, losses = group.run(start, first)
    after = [tiny_training.bits(own) for own in state]
    assert np.isfinite(losses).all()
    assert after[0] != before[0]
    assert after[1] == before[1]


@pytest.mark.parametrize(
    ("replicas", "each", "wanted"),
    [(5, 2.0, 1), (5, 1.0, 1), (5, 0.5, 1), (64, 0.1, 8), (60, 0.1, 10), (7, 0.25, 4), (3, 0.1, 3)],
)
def test_as_many_are_side_by_side_as_there_is_room_for(
    replicas: int, each: float, wanted: int
) -> None:
    assert devices.side_by_side(replicas, int(each * devices.ROOM), 1) == wanted


@pytest.mark.parametrize(("batch", "wanted"), [(1, 8), (10, 8), (11, 1), (200, 1)])
def test_replicas_whose_operations_have_enough_to_do_take_turns(batch: int, wanted: int) -> None:
    assert devices.side_by_side(8, devices.WORK // 10, batch) == wanted
