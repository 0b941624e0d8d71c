"""What holds for every architecture there is, and for every one that is added."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jaxtyping import Array
from tests import tiny

from daxy import models
from daxy.models.api import Batch, Model, Sizes
from daxy.models.decoding.greedy import greedy
from daxy.models.layers.dropout import Dropout
from daxy.training.objective import cross_entropy

KINDS = tiny.architectures()
# A longer source and a longer target: a model may take another way through each.
WIDTHS = [(6, 9), (9, 6)]

FEW = (
    *("gru+attn", "lstm x2", "stack x2", "luong", "multimodal"),
    *("relative", "rotary, decoder-only"),
)
"""Each way of computing there is; the other networks are mixtures of these, and slow tests."""

every_model = pytest.mark.parametrize(
    "name", [name if name in FEW else tiny.slow(name) for name in KINDS]
)
two_models = pytest.mark.parametrize(
    "name", [name if name in ("gru+attn", "relative") else tiny.slow(name) for name in KINDS]
)
"""For a law that takes long: two by default."""
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
    quiet, one = tiny.logits(network, pairs), noisy(network, pairs, seed=1)
    np.testing.assert_array_equal(quiet, tiny.logits(network, pairs))
    np.testing.assert_array_equal(one, noisy(network, pairs, seed=1))
    assert not np.allclose(one, noisy(network, pairs, seed=2))
    assert not np.allclose(one, quiet)


@every_model
def test_noise_of_rate_zero_is_silence(name: str) -> None:
    network, pairs = tiny.model(*KINDS[name]), tiny.batch(6, 9)
    silent = noisy(network, pairs, seed=0, rate=0.0)
    np.testing.assert_allclose(silent, tiny.logits(network, pairs), atol=2e-6)


@pytest.mark.slow
@every_model
def test_every_weight_has_a_part_in_the_loss(name: str) -> None:
    _, gradients = learned(wide(name), eight_examples(), jnp.array(1))
    for path, leaf in jax.tree_util.tree_leaves_with_path(gradients):
        assert np.isfinite(leaf).all(), path
        assert np.abs(leaf).max() > 0, path


@two_models
def test_a_network_memorises_eight_examples(name: str) -> None:
    pairs = eight_examples()
    network, _ = learned(wide(name), pairs, jnp.array(400))
    np.testing.assert_array_equal(greedy(network, pairs.inputs, 7), pairs.target)


@every_model
def test_the_sizes_of_the_vocabularies_are_the_sizes_of_the_tables(name: str) -> None:
    architecture, config = KINDS[name]
    sizes = Sizes(source_symbols=30, target_symbols=17, channels=5)
    network = tiny.model(architecture, config, sizes=sizes)
    pair = Batch(jnp.array([[29, 1]]), jnp.array([[16, 1]]), jnp.zeros((1, 3, 3, 5), int))
    assert eqx.filter_eval_shape(tiny.logits, network, pair).shape == (1, 2, 17)


@eqx.filter_jit
def said_with(network: Model, pairs: Batch, dropout: Dropout) -> Any:
    return network.logits(pairs, dropout)


def noisy(network: Model, pairs: Batch, seed: int, rate: float = 0.5) -> Any:
    """Return the logits with dropout."""
    return said_with(network, pairs, Dropout(jax.random.key(seed), jnp.array(rate)))


def loss(network: Model, pairs: Batch) -> Any:
    weights = jnp.full(len(pairs.source), 1 / len(pairs.source))
    return cross_entropy(network, pairs, weights, None)


def eight_examples() -> Batch:
    """Return eight sources that all differ, with random targets."""
    pairs = tiny.batch(5, 7, count=8, seed=3)
    assert len(np.unique(pairs.source, axis=0)) == 8
    return pairs


def wide(name: str) -> Model:
    """Return a network that is large enough to learn them, with the weights that it starts from."""
    architecture, config = tiny.architectures(hidden=20, embedding=10)[name]
    return models.get(architecture).Model(config, tiny.SIZES, key=jax.random.key(0))


@eqx.filter_jit
def learned(network: Model, pairs: Batch, steps: Array) -> tuple[Model, Model]:
    """Return the network after some steps of Adam on one batch, and the last one's gradients."""
    rule = optax.adam(0.01)

    def step(_: Array, carry: tuple[Model, Model, Any]) -> tuple[Model, Model, Any]:
        network, _, state = carry
        gradients = jax.grad(loss)(network, pairs)
        updates, state = rule.update(gradients, state)
        return optax.apply_updates(network, updates), gradients, state

    begin = network, jax.tree.map(jnp.zeros_like, network), rule.init(network)
    return jax.lax.fori_loop(0, steps, step, begin)[:2]
