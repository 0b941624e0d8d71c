"""What holds for every architecture there is, and for every one that is added."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from tests import tiny

from daxy import models
from daxy.models._decoding import greedy
from daxy.models._model import Batch, Model, Sizes
from daxy.models.layers.dropout import Dropout
from daxy.training.objective import cross_entropy

KINDS = tiny.architectures()
# A longer source and a longer target: a model may take another way through each.
WIDTHS = [(6, 9), (9, 6)]

every_model = pytest.mark.parametrize("name", KINDS)
every_width = pytest.mark.parametrize("widths", WIDTHS, ids=str)


def assert_equal_at_tokens(one: Any, other: Any, pairs: Batch) -> None:
    """Compare logits where the target has a token: what is said of padding is nobody's business."""
    places = np.asarray(pairs.is_target)
    np.testing.assert_allclose(np.asarray(one)[places], np.asarray(other)[places], atol=2e-6)


def wider(codes: Any, by: int) -> Any:
    return jnp.pad(codes, ((0, 0), (0, by)))


def test_every_architecture_there_is_is_held_to_these_laws() -> None:
    assert {architecture for architecture, _ in KINDS.values()} == set(models.available())


@every_model
@every_width
def test_stepping_equals_teacher_forcing(name: str, widths: tuple[int, int]) -> None:
    network, pairs = tiny.model(*KINDS[name]), tiny.batch(*widths)
    assert_equal_at_tokens(tiny.replay(network, pairs), tiny.logits(network, pairs), pairs)


@every_model
@every_width
def test_padding_of_the_source_changes_nothing(name: str, widths: tuple[int, int]) -> None:
    network, pairs = tiny.model(*KINDS[name]), tiny.batch(*widths)
    padded = pairs._replace(source=wider(pairs.source, 4))
    assert_equal_at_tokens(tiny.logits(network, padded), tiny.logits(network, pairs), pairs)


@every_model
@every_width
def test_padding_of_the_target_changes_nothing(name: str, widths: tuple[int, int]) -> None:
    network, pairs = tiny.model(*KINDS[name]), tiny.batch(*widths)
    padded = pairs._replace(target=wider(pairs.target, 4))
    found = tiny.logits(network, padded)[:, : widths[1]]
    assert_equal_at_tokens(found, tiny.logits(network, pairs), pairs)


@every_model
def test_padding_of_the_source_changes_no_step(name: str) -> None:
    network, pairs = tiny.model(*KINDS[name]), tiny.batch(6, 9)
    padded = pairs._replace(source=wider(pairs.source, 4))
    assert_equal_at_tokens(tiny.replay(network, padded), tiny.replay(network, pairs), pairs)


@every_model
def test_a_batch_equals_its_examples_one_by_one(name: str) -> None:
    network, pairs = tiny.model(*KINDS[name]), tiny.batch(6, 9)
    together = tiny.logits(network, pairs)
    for row in range(len(pairs.source)):
        alone = jax.tree.map(lambda codes, row=row: codes[row : row + 1], pairs)
        found = tiny.logits(network, alone)
        assert_equal_at_tokens(found, together[row : row + 1], alone)


@every_model
def test_a_logit_depends_on_no_later_target(name: str) -> None:
    network, pairs = tiny.model(*KINDS[name]), tiny.batch(6, 9)
    changed = pairs._replace(target=pairs.target.at[:, 5:].set(2))
    before = tiny.logits(network, pairs)[:, :6]
    np.testing.assert_array_equal(before, tiny.logits(network, changed)[:, :6])


@every_model
def test_without_noise_a_network_is_deterministic_and_with_noise_it_follows_the_key(
    name: str,
) -> None:
    network, pairs = tiny.model(*KINDS[name]), tiny.batch(6, 9)
    noisy = eqx.filter_jit(
        lambda key: network.logits(pairs, Dropout(jax.random.key(key), jnp.array(0.5)))
    )
    quiet = tiny.logits(network, pairs)
    np.testing.assert_array_equal(quiet, tiny.logits(network, pairs))
    np.testing.assert_array_equal(noisy(1), noisy(1))
    assert not np.allclose(noisy(1), noisy(2))
    assert not np.allclose(noisy(1), quiet)


@every_model
def test_noise_of_rate_zero_is_silence(name: str) -> None:
    network, pairs = tiny.model(*KINDS[name]), tiny.batch(6, 9)
    noisy = eqx.filter_jit(lambda rate: network.logits(pairs, Dropout(jax.random.key(0), rate)))
    quiet = tiny.logits(network, pairs)
    np.testing.assert_allclose(noisy(jnp.array(0.0)), quiet, atol=2e-6)


@every_model
def test_every_weight_has_a_part_in_the_loss(name: str) -> None:
    network, pairs = tiny.model(*KINDS[name]), tiny.batch(6, 9)
    gradients = eqx.filter_jit(eqx.filter_grad(loss))(network, pairs)
    for path, leaf in jax.tree_util.tree_leaves_with_path(gradients):
        assert np.isfinite(leaf).all(), path
        assert np.abs(leaf).max() > 0, path


@every_model
def test_a_network_memorises_eight_examples(name: str) -> None:
    architecture, config = tiny.architectures(hidden=20, embedding=10)[name]
    network, pairs = tiny.model(architecture, config), eight_examples()
    trained = memorised(network, pairs)
    said = greedy(trained, pairs.given, 7)
    np.testing.assert_array_equal(said, pairs.target)


@every_model
def test_the_sizes_of_the_vocabularies_are_the_sizes_of_the_tables(name: str) -> None:
    architecture, config = KINDS[name]
    sizes = Sizes(source_symbols=30, target_symbols=17, channels=5)
    network = tiny.model(architecture, config, sizes=sizes)
    pair = Batch(jnp.array([[29, 1]]), jnp.array([[16, 1]]), jnp.zeros((1, 3, 3, 5), int))
    assert tiny.logits(network, pair).shape == (1, 2, 17)


def loss(network: Model, pairs: Batch) -> Any:
    weights = jnp.full(len(pairs.source), 1 / len(pairs.source))
    return cross_entropy(network, pairs, weights, None)


def eight_examples() -> Batch:
    """Return eight sources that all differ, with random targets."""
    pairs = tiny.batch(5, 7, count=8, seed=3)
    assert len(np.unique(pairs.source, axis=0)) == 8
    return pairs


@eqx.filter_jit
def memorised(network: Model, pairs: Batch) -> Model:
    """Return the network after 400 steps of Adam on one batch."""
    rule = optax.adam(0.02)

    def step(carry: tuple[Any, Any], _: None) -> tuple[tuple[Any, Any], None]:
        network, state = carry
        updates, state = rule.update(jax.grad(loss)(network, pairs), state)
        return (optax.apply_updates(network, updates), state), None

    return jax.lax.scan(step, (network, rule.init(network)), None, length=400)[0][0]
