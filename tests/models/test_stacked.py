"""What is particular to the encoder-decoders of Lake & Baroni (2018, appendix)."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array
from tests import tiny
from tests.models.test_seq2seq import Spy, arrays

from daxy.core.errors import DaxyError
from daxy.core.vocabulary import PAD
from daxy.models.api import Batch, greedy_token
from daxy.models.layers.dropout import Dropout
from daxy.models.stacked import Config, Model

KINDS = tiny.stackeds(hidden=6)
ATTENTION = {"query", "key", "energy"}

every_kind = pytest.mark.parametrize("name", KINDS)


def network(name: str) -> Any:
    return tiny.model("stacked", KINDS[name])


@eqx.filter_jit
def fed(network: Model, pairs: Batch, teacher_forced: Array) -> Array:
    return network.logits_free_running(pairs, None, teacher_forced)


@eqx.filter_jit
def left_alone(network: Model, pairs: Batch) -> Array:
    """Return the logits of stepping on from the network's own best tokens."""
    state, token = network.start(pairs.source), jnp.full(len(pairs.source), PAD)
    found = []
    for _ in range(pairs.target.shape[1]):
        state, logits = network.step(state, token)
        token = greedy_token(logits)
        found.append(logits)
    return jnp.stack(found, axis=1)


@pytest.mark.slow
@every_kind
def test_what_is_not_forced_is_given_its_own_best_tokens(name: str) -> None:
    model, pairs = network(name), tiny.batch(6, 9)
    free = fed(model, pairs, jnp.zeros(5, bool))
    np.testing.assert_allclose(free, left_alone(model, pairs), atol=2e-6)
    assert not np.allclose(free, tiny.logits(model, pairs))


def test_each_example_is_forced_or_left_alone_by_itself() -> None:
    model, pairs = network("gru x2+attn"), tiny.batch(6, 9)
    some = jnp.array([True, False, True, True, False])
    every, none = (fed(model, pairs, jnp.full(5, value)) for value in (True, False))
    np.testing.assert_allclose(
        fed(model, pairs, some), jnp.where(some[:, None, None], every, none), atol=2e-6
    )


@every_kind
def test_one_example_by_itself_takes_a_way_of_its_own_to_the_same(name: str) -> None:
    model, pairs = network(name), tiny.batch(6, 9)
    teacher_forced = jnp.array([True, False, True, False, False])
    together = fed(model, pairs, teacher_forced)
    for row in range(len(teacher_forced)):
        alone = jax.tree.map(lambda codes, row=row: codes[row : row + 1], pairs)
        found = fed(model, alone, teacher_forced[row : row + 1])
        np.testing.assert_allclose(found[0], together[row], atol=2e-6)


@pytest.mark.slow
@every_kind
def test_noise_falls_on_the_same_values_whichever_way_an_example_takes(name: str) -> None:
    model, pairs = network(name), tiny.batch(6, 9)
    teacher_forced = jnp.array([True, False, True, False, False])
    key, rate = jax.random.key(5), jnp.array(0.4)
    together = model.logits_free_running(pairs, Dropout(key, rate), teacher_forced)
    every = model.logits(pairs, Dropout(key, rate))
    for row in range(len(teacher_forced)):
        alone = jax.tree.map(lambda codes, row=row: codes[row : row + 1], pairs)
        found = model.logits_free_running(
            alone, Dropout(key, rate, row), teacher_forced[row : row + 1]
        )
        np.testing.assert_allclose(found[0], together[row], atol=2e-6)
        if teacher_forced[row]:
            np.testing.assert_allclose(found[0], every[row], atol=2e-6)
    assert not np.allclose(every, model.logits(pairs))


@pytest.mark.slow
@every_kind
@pytest.mark.parametrize("teacher_forced", [True, False])
def test_the_way_of_one_example_leads_to_the_same_gradients(
    name: str, teacher_forced: bool
) -> None:
    def gradients(model: Model, pairs: Batch) -> list[np.ndarray[Any, Any]]:
        def mean(model: Model) -> jax.Array:
            logits = fed(model, pairs, jnp.full(len(pairs.source), teacher_forced))
            return jnp.sin(logits).sum() / len(pairs.source)

        return [np.asarray(leaf) for leaf in jax.tree.leaves(jax.grad(mean)(model))]

    pairs = tiny.batch(6, 9)
    longest = (pairs.source != PAD).sum(axis=1).argmax()
    alone, twice = (
        jax.tree.map(lambda codes, n=n: codes[jnp.full(n, longest)], pairs) for n in (1, 2)
    )
    model = network(name)
    for own, leaf in zip(gradients(model, alone), gradients(model, twice), strict=True):
        np.testing.assert_allclose(own, leaf, atol=1e-5, rtol=1e-3)
        assert (leaf != 0).any()


@every_kind
def test_a_network_has_the_weights_of_its_kind_and_no_others(name: str) -> None:
    config, model = KINDS[name], network(name)
    assert set(arrays(model)) & ATTENTION == (ATTENTION if config.attention else set())
    assert len(model.encoder) == len(model.decoder) == config.layers
    twice = 2 if config.attention else 1
    assert len(model.decoder[0].input_to_gates) == len(model.output) == twice * config.hidden


@every_kind
def test_noise_falls_on_both_embeddings_and_between_layers(name: str) -> None:
    model, pairs = network(name), tiny.batch(6, 9)
    spy = Spy(jax.random.key(0), jnp.array(0.2))
    jax.eval_shape(lambda: model.logits(pairs, spy))
    between = KINDS[name].layers == 2
    expected = ["source embedding", *["encoder, into layer 1"] * between, "target embedding"]
    expected += ["between the decoder's layers"] * between
    assert [place for place, _ in spy.places] == expected
    assert {width for _, width in spy.places} == {6}


def test_every_layer_of_the_decoder_begins_with_the_last_state_of_the_encoders() -> None:
    model, source = network("lstm x2"), tiny.batch(6, 9).source
    begun = model.start(source).states
    assert [len(state) for state in begun] == [2, 2]
    embedded = model.source_embedding[source]
    for row, length in enumerate((source != PAD).sum(axis=1)):
        alone = embedded[row : row + 1, :length].swapaxes(0, 1)
        for layer, state in zip(model.encoder, begun, strict=True):
            parts = layer.states(model._cell, alone, jnp.ones((length, 1), bool))
            for part, own in zip(parts, state, strict=True):
                np.testing.assert_allclose(part[-1, 0], own[row], atol=2e-6)
            alone = parts[0]


def test_the_start_symbol_has_an_embedding_of_its_own() -> None:
    model, pairs = network("gru x1"), tiny.batch(6, 9)
    changed = eqx.tree_at(
        lambda model: model.target_embedding,
        model,
        model.target_embedding.at[PAD].add(1.0),
    )
    assert not np.allclose(tiny.logits(model, pairs)[:, 0], tiny.logits(changed, pairs)[:, 0])


WRONG = {
    "hidden must be positive, not 0": {"hidden": 0},
    "layers must be positive, not -1": {"layers": -1},
}


@pytest.mark.parametrize(("message", "values"), WRONG.items(), ids=WRONG)
def test_a_wrong_configuration_is_refused_at_once(message: str, values: dict[str, Any]) -> None:
    with pytest.raises(DaxyError, match=message):
        Config(**values)
