"""What is particular to the network of Andreas (2020)."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray
from tests import tiny
from tests.transcribed import lstm, softmax

from daxy.core.errors import WrongRequest
from daxy.core.vocabulary import END, PAD
from daxy.models.api import Sizes
from daxy.models.layers.dropout import Dropout
from daxy.models.luong import Config, Model

Array = NDArray[np.float64]


def network(*, copy: bool = True) -> Any:
    return tiny.model("luong", Config(hidden=6, embedding=5, copy=copy))


def transcribed(model: Model, source: list[int], target: list[int]) -> Array:
    """Return the scores of every next token of one example, one step after another."""
    own = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), model)
    hidden, encoder = own.config.hidden, own.encoder
    rows = encoder.embedding[[len(encoder.embedding) - 1, *source]]
    outputs = np.zeros((len(rows), 2 * hidden))
    state = np.zeros(hidden), np.zeros(hidden)
    for way, order in ((0, range(len(rows))), (1, range(len(rows))[::-1])):
        weights = encoder.input_to_gates, encoder.state_to_gates
        biases = encoder.input_bias, encoder.state_bias
        here = np.zeros(hidden), np.zeros(hidden)
        for place in order:
            here = lstm(rows[place], here, *(each[way] for each in (*weights, *biases)))
            outputs[place, way * hidden :][:hidden] = here[0]
        state = state[0] + here[0], state[1] + here[1]
    features = outputs @ own.read + own.read_bias

    scores, fed = [], np.zeros(hidden)
    layer = own.input_to_gates, own.state_to_gates, own.input_bias, own.state_bias
    for token in [len(own.target_embedding) - 1, *target[:-1]]:
        row = np.concatenate([own.target_embedding[token], fed])
        state = lstm(row, state, *layer)
        attended = softmax((features @ own.key + own.key_bias) @ state[0])
        both = np.concatenate([state[0], attended @ features])
        fed = both @ own.combine + own.combined_bias
        scores.append(fed @ own.output + own.output_bias)
        if not own.config.copy:
            continue
        chances = softmax(scores[-1])
        ending, copy = attended[-1], chances[-1]
        said = chances[:-1] * (1 - copy)
        said[END] += copy * ending
        said[PAD] += copy * (1 - ending) + (1 - copy) * copy
        scores[-1] = np.log(said)
    return np.array(scores)


@pytest.mark.parametrize("copy", [True, False])
def test_logits_are_those_of_the_equations(copy: bool) -> None:
    model, pairs = network(copy=copy), tiny.batch(6, 9)
    found = np.asarray(tiny.logits(model, pairs))
    for row in range(len(found)):
        source, target = (np.asarray(each)[row] for each in pairs[:2])
        words, actions = (codes[codes != PAD].tolist() for codes in (source, target))
        wanted = transcribed(model, words, actions)
        np.testing.assert_allclose(found[row, : len(actions)], wanted, atol=1e-5)


@pytest.mark.parametrize("ending", [0.0, 1.0, np.nextafter(np.float32(1), np.float32(2))])
@pytest.mark.parametrize("copy", [-200, 0, 200])
def test_chances_are_numbers_wherever_it_attends_and_however_sure_it_is(
    ending: float, copy: float
) -> None:
    """A share of attention may be rounded to just above 1."""
    model = network()
    bias = jnp.zeros(model.output_bias.shape).at[-1].set(copy)
    model = eqx.tree_at(lambda each: each.output_bias, model, bias)

    def scores(combined: Any, ending: Any) -> Any:
        return model._output_logits(combined, ending)

    combined = jnp.zeros((1, 6))
    said, pull_back = jax.vjp(scores, combined, jnp.full(1, ending, jnp.float32))
    assert np.isfinite(said).all()
    assert float(jnp.exp(said).sum()) == pytest.approx(1, abs=1e-5)
    for token in (END, END + 1):
        cotangent = jnp.zeros_like(said).at[:, token].set(1)
        assert all(np.isfinite(each).all() for each in pull_back(cotangent))


def test_it_has_as_many_weights_as_the_authors_layers() -> None:
    sizes = Sizes(source_symbols=15, target_symbols=8)
    made = jax.eval_shape(lambda: Model(Config(), sizes, key=jax.random.key(0)))
    gates, hidden, embedding = 4 * 512, 512, 64
    encoder = 2 * (gates * (embedding + hidden) + 2 * gates)
    decoder = gates * (embedding + hidden + hidden) + 2 * gates
    linear = 2 * (2 * hidden * hidden + hidden) + hidden * hidden + hidden
    words = (15 + 1) * embedding + (8 + 1) * embedding + (8 + 1) * (hidden + 1)
    assert sum(leaf.size for leaf in jax.tree.leaves(made)) == encoder + decoder + linear + words


def test_what_a_step_attends_to_is_a_share_of_the_words() -> None:
    model, pairs = network(), tiny.batch(6, 9)
    state, _ = model.step(model.start(pairs.source), jnp.zeros(5, int))
    is_word = np.pad(np.asarray(pairs.source) != PAD, ((0, 0), (1, 0)), constant_values=True)
    np.testing.assert_allclose(state.attention_weights.sum(axis=1), 1, rtol=1e-5)
    assert (np.asarray(state.attention_weights)[~is_word] == 0).all()


def test_noise_of_rate_0_is_none() -> None:
    model, pairs = network(), tiny.batch(6, 9)
    noise = Dropout(jax.random.key(0), jnp.asarray(0.5))
    quiet = model.logits(pairs)
    noisy = model.logits(pairs, noise)
    assert np.abs(noisy - quiet)[:, 1:].max() > 1e-3
    silent = Dropout(jax.random.key(0), jnp.asarray(0.0))
    np.testing.assert_allclose(model.logits(pairs, silent), quiet, atol=1e-6)


@pytest.mark.parametrize("name", ["hidden", "embedding"])
def test_a_width_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(WrongRequest, match=f"{name} must be positive"):
        Config(**{name: 0})
