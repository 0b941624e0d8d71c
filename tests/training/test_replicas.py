"""Replicas of a group train like single runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests import tiny
from tests.tiny_training import (
    BATCH,
    Listener,
    bits,
    examples,
    idle,
    largest_difference,
    scripted,
    table,
    training,
)

from daxy.batching.epochs import Bucket
from daxy.models import transducer
from daxy.training.config import TrainingConfig
from daxy.training.loop import one_replica
from daxy.training.placement import merged
from daxy.training.replicas import Replicas
from daxy.training.step import coins, for_each_replica


def test_a_replica_equals_the_same_run_alone() -> None:
    together, _ = training([3, 1], epochs=1).fit(Listener())
    for place, seed in enumerate([3, 1]):
        alone, _ = training([seed], epochs=1).fit(Listener())
        own = one_replica(together.model, place)
        assert largest_difference(own, one_replica(alone.model, 0)) < 1e-5


@pytest.mark.parametrize("count", [1, 3])
def test_each_replica_meets_a_function_without_an_axis_of_replicas(count: int) -> None:
    given, added = np.arange(2.0 * count).reshape(count, 2), np.arange(float(count))

    def function(row: jax.Array, *, by: jax.Array) -> tuple[jax.Array, jax.Array]:
        assert row.shape == (2,) and by.shape == ()
        return row + by, row.sum()

    rows, sums = for_each_replica(function)(jnp.asarray(given), by=jnp.asarray(added))
    assert rows.tolist() == (given + added[:, None]).tolist()
    assert sums.tolist() == given.sum(axis=1).tolist()


def test_a_memory_of_one_replica_alone_is_written_into_in_place() -> None:
    """With an axis for replicas it would be a scatter, and the compiled loop would copy it all."""
    config, recipe = (
        transducer.Config(hidden=4, embedding=2, memory_width=3),
        TrainingConfig().with_settings(batch_size=BATCH),
    )
    group = Replicas("transducer", config, recipe, table(), (Bucket(5, 5),), (0,))
    (mesh,), (state,) = group.placement.meshes, group.start()
    (data,) = group.tables(group.table)
    steps = idle(steps=2, replicas=1)
    program = group.program(mesh).trace(state, steps, data, group.dropout_params, 0, 2).jaxpr
    assert f"f32[{BATCH},11,3] = dynamic_update_slice" in str(program)
    assert f"f32[1,{BATCH},11,3]" not in str(program)


def test_replicas_of_different_seeds_differ_from_the_start() -> None:
    start = merged(training([0, 1]).replicas.start()).model
    assert largest_difference(one_replica(start, 0), one_replica(start, 1)) > 0.1


def test_a_seed_starts_from_the_same_weights_in_any_group() -> None:
    alone = merged(training([1]).replicas.start()).model
    together = merged(training([0, 1]).replicas.start()).model
    assert largest_difference(one_replica(alone, 0), one_replica(together, 1)) < 1e-6


def test_the_noise_of_a_step_depends_on_the_seed_and_on_the_step() -> None:
    """The same batch from the same weights: what differs in the loss is the noise alone."""
    replicas = training([0, 1], dropout=0.5).replicas
    (start,) = replicas.start()
    same = jax.tree.map(lambda leaf: jnp.stack([leaf[0], leaf[0]]), start.model)
    steps = idle(steps=3, replicas=2)
    active = steps._replace(weights=jnp.full((3, 2, 1, 4), 0.25), active=jnp.ones((3, 2), bool))
    _, losses = replicas.run([start._replace(model=same)], active)
    assert len(np.unique(np.round(losses, 4))) == 6


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_step_that_is_idle_changes_nothing(optimizer: str) -> None:
    replicas = training([0, 1], optimizer=optimizer, weight_decay=0.1).replicas
    start = replicas.start()
    before = bits(start)
    after, losses = replicas.run(start, idle(steps=3, replicas=2))
    assert bits(after) == before
    assert (np.asarray(losses) == 0).all()


@pytest.mark.parametrize("optimizer", [tiny.slow("sgd"), "adam"])
def test_a_finished_replica_stays_as_it_is_to_the_bit(optimizer: str) -> None:
    scores = scripted([1.0, 0.1, 0.1], [0.5, 0.6, 0.7]), scripted([1.0], [0.5])
    changes = {"optimizer": optimizer, "weight_decay": 0.1}
    longer, _ = training([0, 1], scores[0], epochs=3, **changes).fit(Listener())
    shorter, _ = training([0, 1], scores[1], epochs=1, **changes).fit(Listener())
    first = [
        (one_replica(state.model, 0), one_replica(state.optimizer, 0))
        for state in (longer, shorter)
    ]
    assert bits(first[0]) == bits(first[1])
    assert largest_difference(one_replica(longer.model, 1), one_replica(shorter.model, 1)) > 1e-3


def test_replicas_decode_their_own_rows_in_the_order_asked_for() -> None:
    replicas = training([0, 1]).replicas
    model = merged(replicas.start()).model
    rows = table().rows(examples())
    several = replicas.decode(model, [rows[:9], rows[5:8][::-1]])
    for place, own in enumerate([rows[:9], rows[5:8][::-1]]):
        for row, said in zip(own, several[place], strict=True):
            alone = replicas.decode(model, [np.array([row], np.int32)] * 2)[place]
            np.testing.assert_array_equal(said, alone[0])


def test_decoding_nothing_gives_nothing() -> None:
    replicas = training([0, 1]).replicas
    rows = table().rows(examples())
    assert [
        len(own) for own in replicas.decode(merged(replicas.start()).model, [rows[:2], rows[:0]])
    ] == [
        2,
        0,
    ]


def test_coins_fall_as_often_as_they_should_and_depend_on_the_slot_alone() -> None:
    step = jnp.int32(7)
    tossed = np.asarray(coins(step, 0.3, 4000, jnp.int32(0)))
    assert abs(tossed.mean() - 0.3) < 3.3 * (0.3 * 0.7 / 4000) ** 0.5
    np.testing.assert_array_equal(coins(step, 0.3, 10, jnp.int32(25)), tossed[25:35])
    assert (tossed != np.asarray(coins(step + 1, 0.3, 4000, jnp.int32(0)))).any()


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_coin_with_two_equal_sides_always_falls_alike(share: float) -> None:
    assert set(np.asarray(coins(jnp.int32(3), share, 100, jnp.int32(0)))) == {bool(share)}
