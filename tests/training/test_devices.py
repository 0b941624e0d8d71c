"""Sharding over devices and time slices do not change the result of training."""

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
def _clear_programs() -> Iterator[None]:
    """Clear the programs compiled for other devices."""
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
def test_replicas_are_sharded_before_examples(
    runs: int, batch: int, shape: tuple[int, int]
) -> None:
    mesh = devices.make_mesh(runs, devices.data_parallel_sizes(batch))
    assert (mesh.shape[REPLICAS], mesh.shape[EXAMPLES]) == shape


@pytest.mark.parametrize(
    ("runs", "batch", "shape"),
    [(1, 32, (1, 4)), (3, 1, (3, 1)), (3, 32, (2, 2)), (5, 1, (4, 1)), (2, 16, (2, 2))],
)
def test_time_slices_shard_any_number_of_replicas_evenly(
    runs: int, batch: int, shape: tuple[int, int]
) -> None:
    mesh = devices.make_mesh(runs, devices.data_parallel_sizes(batch), in_time_slices=True)
    assert (mesh.shape[REPLICAS], mesh.shape[EXAMPLES]) == shape


def trained(seeds: list[int]) -> tuple[Any, int]:
    """Return the weights after an epoch of new programs, and the number of devices."""
    tiny_training.replicas.cache_clear()
    training = tiny_training.training(seeds, None, config=PLAIN, epochs=1, dropout=0.3)
    state, _ = training.fit(tiny_training.Listener())
    used = {device for mesh in training.replicas.placement.meshes for device in mesh.devices.flat}
    return state.model, len(used)


def one_device(*_: Any, **__: Any) -> Mesh:
    return Mesh(np.array(jax.devices()[:1]).reshape(1, 1), (REPLICAS, EXAMPLES))


@pytest.mark.parametrize("seeds", [[0], [0, 1]])
def test_a_group_on_many_devices_equals_the_same_group_on_one(
    seeds: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "MIN_EXAMPLES", 1)
    many, used = trained(seeds)
    assert used == DEVICES
    for module in (placement, replicas):
        monkeypatch.setattr(module, "make_mesh", one_device)
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
        monkeypatch.setattr(module, "make_mesh", one_device)
    one, _ = trained(list(range(count)))
    assert tiny_training.largest_difference(many, one) < 1e-5


@pytest.mark.parametrize(("count", "each"), [(5, 1), (14, 3)])
def test_replicas_in_time_slices_equal_vmapped_replicas(
    count: int, each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = list(range(count))
    vmapped, _ = trained(seeds)
    monkeypatch.setattr(placement, "max_vmapped", lambda *_: each)
    assert len(tiny_training.training(seeds, config=PLAIN).replicas.start()) == -(-count // each)
    sliced, _ = trained(seeds)
    assert tiny_training.largest_difference(vmapped, sliced) < 1e-5


def test_batches_are_sharded_in_time_slices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(devices, "VMAP_BYTES", 0)
    whole, _ = trained([0, 1])
    monkeypatch.setattr(devices, "MIN_EXAMPLES", 1)
    sharded, _ = trained([0, 1])
    assert tiny_training.largest_difference(whole, sharded) < 1e-5


def test_a_finished_replica_has_no_time_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "VMAP_BYTES", 0)
    for module in (placement, replicas):
        monkeypatch.setattr(module, "make_mesh", one_device)
    group = tiny_training.training([0, 1]).replicas
    start = group.start()
    before = [tiny_training.bits(group_state) for group_state in start]
    idle = tiny_training.idle(steps=3, replicas=2)
    first = idle._replace(
        weights=idle.weights.at[:, 0].set(0.25), active=idle.active.at[:, 0].set(True)
    )
    state, losses = group.run(start, first)
    after = [tiny_training.bits(group_state) for group_state in state]
    assert np.isfinite(losses).all()
    assert after[0] != before[0]
    assert after[1] == before[1]


@pytest.mark.parametrize(
    ("replicas", "each", "wanted"),
    [(5, 2.0, 1), (5, 1.0, 1), (5, 0.5, 1), (64, 0.1, 8), (60, 0.1, 10), (7, 0.25, 4), (3, 0.1, 3)],
)
def test_weights_of_vmapped_replicas_have_a_maximum_size(
    replicas: int, each: float, wanted: int
) -> None:
    assert devices.max_vmapped(replicas, int(each * devices.VMAP_BYTES), 1) == wanted


@pytest.mark.parametrize(("batch", "wanted"), [(1, 8), (10, 8), (11, 1), (200, 1)])
def test_replicas_with_large_operations_are_not_vmapped(batch: int, wanted: int) -> None:
    assert devices.max_vmapped(8, devices.VMAP_WORK // 10, batch) == wanted
