"""Epochs, validation after each, the best weights kept, an exact stop."""

from dataclasses import asdict
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests import tiny
from tests.tiny_training import (
    BATCH,
    STEPS,
    TRAIN,
    Listener,
    bits,
    examples,
    largest_difference,
    last_diverges,
    scripted,
    table,
    training,
)

from daxy.batching.epochs import bucketed
from daxy.core.errors import RunFailed
from daxy.models.api import Batch
from daxy.training.evaluation import EvalResult, EvalSet
from daxy.training.loop import one_replica
from daxy.training.objective import cross_entropy
from daxy.training.parts import Loss
from daxy.training.placement import ShardedState, merged
from daxy.training.replicas import Replicas
from daxy.training.step import Steps
from daxy.training.trainer_state import TrainerState


def test_an_epoch_meets_every_example_and_is_heard_of() -> None:
    listener = Listener()
    training(epochs=2).fit(listener)
    assert listener.epochs == [1, 2]
    assert [(number, done) for number, done, _ in listener.steps] == [
        (number, done) for number in (0, 1) for done in (2, 4, 5)
    ]
    for number in (0, 1):
        assert sum(seen for within, _, seen in listener.steps if within == number) == TRAIN


def test_examples_of_all_replicas_are_counted() -> None:
    listener = Listener()
    training([0, 1], epochs=1).fit(listener)
    assert sum(seen for _, _, seen in listener.steps) == 2 * TRAIN


def test_the_best_weights_are_those_of_the_best_epoch_and_a_tie_keeps_the_earlier() -> None:
    state, position = training(validate=scripted([0.2, 0.5, 0.5, 0.4]), epochs=4).fit(Listener())
    then, _ = training(validate=scripted([0.2, 0.5]), epochs=2).fit(Listener())
    assert position.best_epoch == [2]
    assert position.best == [0.5]
    assert bits(state.best) == bits(then.model)
    assert bits(state.model) != bits(then.model)


def test_each_replica_selects_for_itself() -> None:
    scores = scripted([0.1, 0.2, 0.3], [0.3, 0.2, 0.1])
    state, position = training([0, 1], scores, epochs=3).fit(Listener())
    first, _ = training([0, 1], scripted([0.1], [0.3]), epochs=1).fit(Listener())
    assert position.best_epoch == [3, 1]
    assert bits(one_replica(state.best, 0)) == bits(one_replica(state.model, 0))
    assert bits(one_replica(state.best, 1)) == bits(one_replica(first.model, 1))


def test_training_stops_when_nothing_can_be_better() -> None:
    _, position = training(validate=scripted([0.3, 1.0, 1.0, 1.0]), epochs=4).fit(Listener())
    assert [record.validation for record in position.history[0]] == [0.3, 1.0]
    assert position.stopped == [True]


def test_training_goes_on_while_anything_can_be_better() -> None:
    _, position = training(validate=scripted([0.99999, 0.99999]), epochs=2).fit(Listener())
    assert len(position.history[0]) == 2
    assert position.best_epoch == [1]
    assert position.stopped == [False]


def test_a_replica_that_stopped_is_not_validated_again_and_has_no_further_records() -> None:
    scores = scripted([1.0], [0.1, 0.2, 0.3])
    listener = Listener()
    _, position = training([0, 1], scores, epochs=3).fit(listener)
    assert [len(history) for history in position.history] == [1, 3]
    assert position.stopped == [True, False]
    assert sum(seen for _, _, seen in listener.steps) == (2 + 1 + 1) * TRAIN


def test_draws_are_counted_and_the_last_epoch_has_what_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("daxy.training.config.EPOCH", 12)
    listener = Listener()
    _, position = training(samples=32, validate=None).fit(listener)
    assert [record.steps for record in position.history[0]] == [3, 6, 8]
    assert sum(seen for _, _, seen in listener.steps) == 32


def test_without_a_validation_set_the_last_weights_are_kept() -> None:
    state, position = training(validate=None, epochs=2).fit(Listener())
    assert bits(state.best) == bits(state.model)
    assert [record.validation for record in position.history[0]] == [None, None]
    assert position.best_epoch == [2]


def test_the_last_weights_are_kept_where_the_recipe_says_so() -> None:
    scores = scripted([0.3, 1.0, 0.2])
    state, position = training(validate=scores, epochs=3, select="last").fit(Listener())
    assert bits(state.best) == bits(state.model)
    assert [record.validation for record in position.history[0]] == [0.3, 1.0, 0.2]
    assert position.best_epoch == [3]


@pytest.mark.slow
def test_perplexity_is_of_a_token_and_needs_a_loss_that_is_a_mean_over_them() -> None:
    still = training(epochs=1, learning_rate=1e-9, dropout=0.0, token_mean_loss=True)
    state, position = still.fit(Listener())
    codes, rows = table(), np.arange(TRAIN)
    batch = Batch(jnp.asarray(codes.source[rows], int), jnp.asarray(codes.target[rows], int))
    weights = jnp.full(TRAIN, 1 / codes.target_lengths[rows].sum())
    nats = cross_entropy(one_replica(state.model, 0), batch, weights, None)
    (record,) = position.history[0]
    assert record.perplexity == pytest.approx(float(jnp.exp(nats)), rel=1e-5)
    _, position = training(epochs=1).fit(Listener())
    assert position.history[0][0].perplexity is None


def test_weights_are_kept_by_perplexity_where_the_recipe_says_so() -> None:
    recipe = {
        "token_mean_loss": True,
        "select": "perplexity",
        "learning_rate": 0.1,
        "lr_decay": 5.0,
    }
    state, position = training(validate=scripted([1.0] * 6), epochs=6, **recipe).fit(Listener())
    found = [record.perplexity for record in position.history[0]]
    best = min(range(6), key=lambda epoch: found[epoch] or np.inf)
    assert 0 < best < 5  # else the test says nothing
    assert position.best_epoch == [best + 1]
    then, _ = training(validate=scripted([1.0] * 6), epochs=best + 1, **recipe).fit(Listener())
    assert bits(state.best) == bits(then.model)


def test_a_replica_goes_on_while_another_has_converged(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Replicas.run

    def better(
        replicas: Replicas, shares: ShardedState, steps: Steps, *on: Any
    ) -> tuple[ShardedState, Any]:
        shares, losses = run(replicas, shares, steps, *on)
        losses[:, 1] /= 1 + steps.number[0]
        return shares, losses

    monkeypatch.setattr(Replicas, "run", better)
    recipe = {
        "token_mean_loss": True,
        "dropout": 0.0,
        "learning_rate": 1e-9,
        "select": "perplexity",
    }
    _, position = training([0, 1], epochs=6, early_stopping=3, **recipe).fit(Listener())
    assert [len(history) for history in position.history] == [4, 6]
    assert position.stopped == [True, False]
    assert position.best_epoch[1] == 6


def test_a_perplexity_is_the_exponential_of_the_mean_and_needs_counts() -> None:
    assert TrainerState(1, nats=[3.0], counts=[1.5]).perplexity(0) == pytest.approx(np.exp(2))
    assert TrainerState(1).perplexity(0) is None


def test_training_ends_when_its_perplexity_has_converged() -> None:
    recipe = {"token_mean_loss": True, "dropout": 0.0, "learning_rate": 1e-9}
    _, position = training([0, 1], epochs=9, early_stopping=3, **recipe).fit(Listener())
    assert [len(history) for history in position.history] == [4, 4]
    assert position.stopped == [True, True]


def test_each_replica_slows_down_at_its_own_plateau() -> None:
    scores = scripted([0.5, 0.4, 0.4, 0.6], [0.1, 0.2, 0.3, 0.4])
    recipe = {
        "epochs": 4,
        "learning_rate": 0.2,
        "lr_factor": 0.5,
        "lr_patience": 1,
    }
    state, position = training([0, 1], scores, **recipe).fit(Listener())
    rates = [[record.learning_rate for record in history] for history in position.history]
    assert rates == [[0.2, 0.2, 0.2, 0.1], [0.2, 0.2, 0.2, 0.2]]
    steady = training([0, 1], **(recipe | {"lr_factor": 1.0})).fit(Listener())[0]
    assert bits(one_replica(state.model, 1)) == bits(one_replica(steady.model, 1))
    assert largest_difference(one_replica(state.model, 0), one_replica(steady.model, 0)) > 1e-3


def test_a_recipe_says_after_how_many_steps_it_validates() -> None:
    _, position = training(samples=32, eval_every=3).fit(Listener())
    assert [record.steps for record in position.history[0]] == [3, 6, 8]


def test_a_pace_counts_the_steps_that_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """An epoch of three steps leaves steps of a longer stretch that nobody takes."""
    monkeypatch.setattr("daxy.training.loop.STEPS_PER_DISPATCH", 8)
    short = training(samples=32, eval_every=3)
    assert [int(each.active.sum()) for each in short.first_steps(4)] == [3]
    first, each = short.pace(0.05)
    assert 0 < each < first


def test_the_test_set_is_looked_at_as_often_as_asked_and_decides_nothing() -> None:
    rows = table().rows(examples())[:3]
    heard = list[tuple[int, int]]()

    def judge(replica: int, codes: Any) -> EvalResult:
        heard.append((replica, len(codes)))
        # Which would end training if it were a validation.
        return EvalResult(1.0, {"A": 1.0})

    looked, position = training([0, 1], epochs=5, test=EvalSet([rows, rows[:2]], judge, 2)).fit(
        Listener()
    )
    assert heard == [(0, 3), (1, 2)] * 2
    tests = [record.test for record in position.history[1]]
    assert tests == [None, 1.0, None, 1.0, None]
    assert [record.tests for record in position.history[1]][:2] == [{}, {"A": 1.0}]
    unseen, _ = training([0, 1], epochs=5).fit(Listener())
    assert bits(looked) == bits(unseen)


def test_the_records_count_epochs_and_steps_and_tell_the_learning_rate() -> None:
    _, position = training(epochs=3, learning_rate=0.2, lr_decay=0.5).fit(Listener())
    records = position.history[0]
    assert [record.epoch for record in records] == [1, 2, 3]
    assert [record.steps for record in records] == [STEPS, 2 * STEPS, 3 * STEPS]
    assert [record.learning_rate for record in records] == [0.2, 0.1, 0.05]


@pytest.mark.slow
def test_the_learning_rate_of_an_epoch_is_that_of_its_steps() -> None:
    models = [training(epochs=epochs, lr_decay=1e-9).fit(Listener())[0].model for epochs in (1, 2)]
    assert largest_difference(*models) < 1e-6
    models[1] = training(epochs=2, lr_decay=1.0).fit(Listener())[0].model
    assert largest_difference(*models) > 1e-3


@pytest.mark.parametrize("seed", [0, tiny.slow(5)])
def test_the_loss_of_an_epoch_is_the_mean_over_its_steps(seed: int) -> None:
    """Nothing moves at so low a rate: it is the mean of the batches' losses at the start."""
    untrained = training([seed], epochs=1, learning_rate=1e-30, dropout=0.0)
    _, position = untrained.fit(Listener())
    network = one_replica(merged(untrained.replicas.start()).model, 0)
    codes, rows = table(), table().rows(examples())[:TRAIN]
    order = bucketed(rows, codes.source_lengths[rows], size=BATCH, seed=seed, number=0)
    jitted = jax.jit(partial(cross_entropy, loss=Loss()), static_argnums=3)
    losses = [
        jitted(
            network,
            Batch(jnp.asarray(codes.source[here], int), jnp.asarray(codes.target[here], int)),
            jnp.asarray(weights),
            None,
        )
        for here, weights in zip(order.rows, order.weights, strict=True)
    ]
    np.testing.assert_allclose(position.history[0][0].loss, np.mean(losses), rtol=1e-5)


def test_training_makes_the_loss_smaller() -> None:
    _, position = training(epochs=12, dropout=0.0, lr_decay=1.0).fit(Listener())
    losses = [record.loss for record in position.history[0]]
    assert losses[-1] < 0.8 * losses[0]


def test_the_same_training_gives_the_same_bits() -> None:
    one, other = (training([0, 1], epochs=2).fit(Listener())[0] for _ in range(2))
    assert bits(one) == bits(other)


def test_a_loss_that_is_no_number_ends_the_training_and_names_the_seed() -> None:
    with pytest.raises(RunFailed, match=r"the loss of seed 3 \(epoch 1\) is not finite"):
        training([3], learning_rate=1e30).fit(Listener())


def test_the_others_go_on_without_a_replica_that_diverges() -> None:
    alone, _ = training([0, 1], scripted([0.1, 0.2, 0.3], [0.4] * 3), epochs=3).fit(Listener())
    with last_diverges():
        scores = scripted([0.1, 0.2, 0.3], [0.4])
        state, position = training([0, 1], scores, epochs=3).fit(Listener())
    assert (position.diverged, position.stopped) == ([False, True], [False, True])
    assert [len(history) for history in position.history] == [3, 1]
    assert bits(state.best) == bits(alone.best), "a tie keeps the first epoch's of the second"


def test_weights_that_were_selected_before_are_not_lost() -> None:
    with last_diverges():
        _, position = training([5], scripted([0.4]), epochs=3).fit(Listener())
    assert (position.diverged, position.lost, position.best_epoch) == ([True], [False], [1])
    assert TrainerState.read(asdict(position)) == position


def test_where_the_last_weights_are_kept_none_were_selected_before() -> None:
    lost = pytest.raises(RunFailed, match=r"the loss of seed 5 \(epoch 2\) is not finite")
    with last_diverges(), lost:
        training([5], scripted([0.4]), epochs=3, select="last").fit(Listener())


@pytest.mark.parametrize("keep", ["best", tiny.slow("last"), tiny.slow("perplexity")])
def test_weights_that_the_last_step_of_an_epoch_spoils_are_not_selected(
    keep: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every loss is a number: it was computed before its step."""
    run = Replicas.run

    def spoiling(
        replicas: Replicas, shares: ShardedState, steps: Steps, *on: Any
    ) -> tuple[ShardedState, Any]:
        shares, losses = run(replicas, shares, steps, *on)
        if steps.number[0] != STEPS - 1:
            return shares, losses
        *others, last = shares
        spoiled = jax.tree.map(lambda leaf: leaf.at[-1].set(jnp.nan), last.model)
        return [*others, last._replace(model=spoiled)], losses

    monkeypatch.setattr(Replicas, "run", spoiling)
    recipe = {"select": keep, "token_mean_loss": keep == "perplexity", "epochs": 2}
    state, position = training([0, 1], scripted([0.1, 0.2], []), **recipe).fit(Listener())
    assert (position.diverged, position.lost) == ([False, True], [False, True])
    assert [len(history) for history in position.history] == [2, 0]
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(one_replica(state.best, 0)))
