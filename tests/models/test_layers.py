"""What the layers do that no law of a whole network shows: initial weights, noise, embedding."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from daxy.core.vocabulary import PAD
from daxy.models.api import Sizes
from daxy.models.layers import embedding, encoder
from daxy.models.layers.attention import AttentionKeys, attend
from daxy.models.layers.cells import cell
from daxy.models.layers.dropout import Dropout
from daxy.models.layers.embedding import FEW, embed, look_up
from daxy.models.layers.initial import normal, uniform
from daxy.models.seq2seq import Config, Model

HIDDEN = 48


@pytest.fixture(scope="module")
def fresh() -> Model:
    """A network as training starts from it, wide enough for statistics."""
    config = Config(cell="lstm", hidden=HIDDEN, embedding=40)
    build = jax.jit(lambda key: Model(config, Sizes(50, 50), key=key))
    return build(jax.random.key(0))


# PyTorch's defaults: a recurrent layer is uniform in +-1/sqrt(hidden), a linear map in
# +-1/sqrt(incoming), biases like their weights.
WIDTHS = {
    "encoder.input_to_gates": HIDDEN,
    "encoder.input_bias": HIDDEN,
    "encoder.state_to_gates": HIDDEN,
    "encoder.state_bias": HIDDEN,
    "embedding_to_gates": HIDDEN,
    "context_to_gates": HIDDEN,
    "gates_bias": HIDDEN,
    "state_to_gates": HIDDEN,
    "state_bias": HIDDEN,
    "bridge": 2 * HIDDEN,
    "bridge_bias": 2 * HIDDEN,
    "query": HIDDEN,
    "key": 2 * HIDDEN,
    "energy": HIDDEN,
    "pre_output": 40 + HIDDEN + 2 * HIDDEN,
    "output": HIDDEN,
}


@pytest.mark.parametrize("name", WIDTHS)
def test_a_weight_starts_uniform_as_in_pytorch(name: str, fresh: Model) -> None:
    weight = fresh
    for part in name.split("."):
        weight = getattr(weight, part)
    for values in map(np.asarray, jax.tree.leaves(weight)):
        bound = WIDTHS[name] ** -0.5
        assert np.abs(values).max() <= bound
        assert np.abs(values).max() > bound * (1 - 8 / values.size)
        # The mean of n draws deviates by bound / sqrt(3 n): five times that is allowed.
        assert abs(values.mean()) < 5 * bound / np.sqrt(3 * values.size)
        assert abs(values.std() * np.sqrt(3) / bound - 1) < 3 / np.sqrt(values.size)


@pytest.mark.parametrize("name", ["target_embedding", "encoder.embedding"])
def test_an_embedding_starts_standard_normal(name: str, fresh: Model) -> None:
    weight = fresh
    for part in name.split("."):
        weight = getattr(weight, part)
    values = np.asarray(weight)
    assert abs(values.mean()) < 5 / np.sqrt(values.size)
    assert abs(values.std() - 1) < 5 / np.sqrt(2 * values.size)
    assert np.abs(values).max() > 3
    assert abs((values**4).mean() - 3) < 5 * np.sqrt(96 / values.size)


def test_no_weight_of_a_network_is_without_a_test_of_its_start(fresh: Model) -> None:
    paths = jax.tree_util.tree_leaves_with_path(fresh)
    names = {jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in paths}
    tested = {*WIDTHS, "target_embedding", "encoder.embedding"}
    assert {name.removesuffix(".0").removesuffix(".1") for name in names} == tested


def test_no_two_weights_start_from_the_same_draws(fresh: Model) -> None:
    firsts = [float(np.ravel(leaf)[0]) for leaf in jax.tree.leaves(fresh)]
    scaled = {round(first, 6) for first in firsts}
    assert len(scaled) == len(firsts)


def test_two_keys_give_two_draws_and_one_key_one() -> None:
    one, other = jax.random.split(jax.random.key(0))
    for draw in (lambda key: uniform(key, (9,), 4), lambda key: normal(key, (9,))):
        np.testing.assert_array_equal(draw(one), draw(one))
        assert not np.allclose(draw(one), draw(other))


@pytest.mark.parametrize("rate", [0.1, 0.2, 0.5, 0.9])
def test_noise_drops_its_share_and_scales_the_rest(rate: float) -> None:
    noise = Dropout(jax.random.key(1), jnp.array(rate))
    values = np.asarray(noise("here", jnp.full((300, 301), 2.0)))
    dropped = (values == 0).mean()
    assert abs(dropped - rate) < 5 * np.sqrt(rate * (1 - rate) / values.size)
    np.testing.assert_allclose(values[values != 0], 2 / (1 - rate), rtol=1e-6)


def test_noise_of_rate_zero_changes_nothing() -> None:
    values = jax.random.normal(jax.random.key(0), (7, 9))
    np.testing.assert_array_equal(
        Dropout(jax.random.key(1), jnp.array(0.0))("here", values), values
    )


def test_neighbouring_units_are_dropped_independently() -> None:
    noise = Dropout(jax.random.key(2), jnp.array(0.5))
    dropped = np.asarray(noise("here", jnp.ones(100_000))) == 0
    for distance in (1, 2, 50_000):
        both = (dropped[distance:] & dropped[:-distance]).mean()
        assert abs(both - 0.25) < 0.01


def dropped(shape: tuple[int, ...], batch_axis: int = 0, first_slot: int = 0) -> np.ndarray:
    noise = Dropout(jax.random.key(5), jnp.array(0.5), first_slot)
    return np.asarray(noise("here", jnp.ones(shape), batch_axis)) == 0


def test_examples_of_a_batch_have_independent_noise() -> None:
    whole = dropped((30, 40, 50)).reshape(30, -1)
    for distance in (1, 2, 16):
        both = (whole[distance:] & whole[:-distance]).mean(axis=1)
        assert (abs(both - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 2000)).all()


def test_the_noise_of_an_example_does_not_depend_on_padding() -> None:
    np.testing.assert_array_equal(dropped((6, 4, 5)), dropped((6, 9, 5))[:, :4])


def test_the_noise_of_an_example_does_not_depend_on_where_its_axis_is() -> None:
    np.testing.assert_array_equal(dropped((6, 4, 5)), dropped((4, 6, 5), 1).swapaxes(0, 1))


def test_parts_of_a_batch_have_the_noise_of_the_whole() -> None:
    parts = [dropped((2, 7), first_slot=first) for first in (0, 2, 4)]
    np.testing.assert_array_equal(dropped((6, 7)), np.concatenate(parts))


def test_each_place_has_noise_of_its_own() -> None:
    noise = Dropout(jax.random.key(3), jnp.array(0.5))
    here, there = (np.asarray(noise(place, jnp.ones(10_000))) == 0 for place in ("here", "there"))
    assert abs((here & there).mean() - 0.25) < 0.03


def test_replicas_may_have_rates_of_their_own() -> None:
    keys, rates = jax.random.split(jax.random.key(4), 2), jnp.array([0.1, 0.6])
    both = jax.vmap(lambda key, rate: Dropout(key, rate)("here", jnp.ones(10_000)))(keys, rates)
    np.testing.assert_allclose((np.asarray(both) == 0).mean(axis=1), rates, atol=0.03)


def test_padding_is_embedded_as_zeros_whatever_the_table_says() -> None:
    found = embed(jnp.ones((5, 3)), jnp.array([[PAD, 1], [4, PAD]]))
    np.testing.assert_array_equal(found[:, :, 0], [[0, 1], [1, 0]])


@pytest.mark.parametrize("symbols", [5, FEW, FEW + 1])
def test_an_embedding_is_each_code_s_row_however_it_is_found(symbols: int) -> None:
    table = normal(jax.random.key(0), (symbols, 3))
    codes = jnp.array([[symbols - 1, PAD, 1], [2, 2, PAD]])
    chosen = np.asarray(table)[np.asarray(codes)]
    expected = np.where(np.asarray(codes)[..., None] == PAD, 0, chosen)
    np.testing.assert_array_equal(embed(table, codes), expected)
    learned = np.zeros((symbols, 3))
    np.add.at(learned, np.asarray(codes)[np.asarray(codes) != PAD], 1)
    np.testing.assert_array_equal(jax.grad(lambda t: embed(t, codes).sum())(table), learned)


@pytest.mark.parametrize("symbols", [5, FEW, FEW + 1])
def test_looking_up_takes_padding_s_row_too(symbols: int) -> None:
    table = normal(jax.random.key(0), (symbols, 3))
    codes = jnp.array([[symbols - 1, PAD, 1], [2, 2, PAD]])
    np.testing.assert_array_equal(look_up(table, codes), np.asarray(table)[np.asarray(codes)])
    learned = np.zeros((symbols, 3))
    np.add.at(learned, np.asarray(codes), 1)
    found = jax.grad(lambda table: look_up(table, codes).sum())(table)
    np.testing.assert_array_equal(found, learned)


def test_without_noise_an_encoder_of_few_symbols_is_that_of_many(
    fresh: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = jnp.array([[3, 4, 5, 1], [6, 1, PAD, PAD]])
    few, _ = fresh.encoder(cell("lstm"), source, None)
    monkeypatch.setattr(encoder, "FEW", 0)
    monkeypatch.setattr(embedding, "FEW", 0)
    many, _ = fresh.encoder(cell("lstm"), source, None)
    np.testing.assert_allclose(few, many, atol=1e-6)


def test_padding_learns_nothing() -> None:
    gradient = jax.grad(lambda table: embed(table, jnp.array([PAD, 2, PAD])).sum())(
        jnp.ones((4, 3))
    )
    np.testing.assert_array_equal(gradient, [[0] * 3, [0] * 3, [1] * 3, [0] * 3])


def test_attention_is_the_softmax_of_the_energies_of_tokens() -> None:
    query, keys = jnp.array([[0.5, -1.0]]), jnp.array([[[0.0, 1.0], [1.0, 2.0], [9.0, 9.0]]])
    is_token = jnp.array([[True, True, False]])
    weights = attend(query, AttentionKeys.of(keys, is_token), jnp.array([2.0, 3.0]))
    # v . tanh(q + k): 2 tanh(0.5) + 3 tanh(0) and 2 tanh(1.5) + 3 tanh(1).
    first, second = 2 * np.tanh(0.5), 2 * np.tanh(1.5) + 3 * np.tanh(1.0)
    share = 1 / (1 + np.exp(second - first))
    np.testing.assert_allclose(weights, [[share, 1 - share, 0]], rtol=1e-5)


@pytest.mark.parametrize("size", [0.3, 3.0, 12.0])
def test_attention_and_its_gradients_are_those_of_a_plain_tanh(size: float) -> None:
    draws = np.random.default_rng(0)
    query, keys = size * draws.normal(size=(2, 6)), size * draws.normal(size=(2, 5, 6))
    keys[0, 0] = 0.5 - query[0]  # neither end of the tanh, however far out both are
    energy, seen = draws.normal(size=6), draws.normal(size=(2, 5))
    given = tuple(jnp.asarray(each, jnp.float32) for each in (query, keys, energy))

    def fast(query: Array, keys: Array, energy: Array) -> Array:
        return attend(query, AttentionKeys.of(keys), energy)

    def plain(query: Array, keys: Array, energy: Array) -> Array:
        return jax.nn.softmax(jnp.tanh(query[:, None] + keys) @ energy)

    found, expected = (
        jax.value_and_grad(lambda *own, way=way: (way(*own) * seen).sum(), (0, 1, 2))(*given)
        for way in (fast, plain)
    )
    jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-5), found, expected)


def test_attention_is_a_number_for_values_of_any_size() -> None:
    query, keys = jnp.array([[1e30, -1e30, 90.0]]), jnp.array([[[1e30] * 3, [-1e30] * 3]])

    def first(query: Array, keys: Array, energy: Array) -> Array:
        return attend(query, AttentionKeys.of(keys), energy)[0, 0]

    found = jax.value_and_grad(first, (0, 1, 2))(query, keys, jnp.ones(3))
    assert all(np.isfinite(each).all() for each in jax.tree.leaves(found))
