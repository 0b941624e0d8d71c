"""What is particular to the encoder-decoders of Bastings et al. (2018, section 5)."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array
from tests import tiny

from daxy import models
from daxy.core.errors import DaxyError, UnknownName
from daxy.models.api import Model
from daxy.models.layers.dropout import Dropout
from daxy.models.seq2seq import Config
from daxy.models.seq2seq import Model as Seq2Seq

KINDS = tiny.seq2seqs(hidden=6, embedding=5)
WITH_ATTENTION = [name for name in KINDS if "+attn" in name]
WITHOUT_ATTENTION = [name for name in KINDS if "+attn" not in name]
WITHOUT_DEPENDENCY = [name for name in KINDS if "-dep" in name]
ATTENTION = {"query", "key", "energy", "context_to_gates", "pre_output"}
DEPENDENCY = {"target_embedding", "embedding_to_gates"}


def arrays(network: Model) -> dict[str, Any]:
    """Return the weights by the name of their field."""
    paths = jax.tree_util.tree_leaves_with_path(network)
    return {jax.tree_util.keystr(path[:1], simple=True): leaf for path, leaf in paths}


@pytest.mark.parametrize("name", KINDS)
def test_a_network_has_the_weights_of_its_kind_and_no_others(name: str) -> None:
    kept = set(arrays(tiny.model("seq2seq", KINDS[name])))
    assert kept & ATTENTION == (ATTENTION if KINDS[name].attention else set())
    assert kept & DEPENDENCY == (DEPENDENCY if KINDS[name].dependency else set())


@pytest.mark.parametrize("name", WITHOUT_DEPENDENCY)
def test_without_dependency_the_previous_tokens_are_not_seen(name: str) -> None:
    network, pairs = tiny.model("seq2seq", KINDS[name]), tiny.batch(6, 9)
    reversed_codes = jnp.where(pairs.target > 1, 9 - pairs.target, pairs.target)
    changed = pairs._replace(target=reversed_codes)
    assert (changed.target != pairs.target).any()
    before = tiny.logits(network, pairs)
    np.testing.assert_array_equal(before, tiny.logits(network, changed))
    np.testing.assert_array_equal(tiny.replay(network, pairs), tiny.replay(network, changed))


@pytest.mark.parametrize("name", [name for name in KINDS if "-dep" not in name])
def test_with_dependency_the_previous_token_is_seen_at_once(name: str) -> None:
    network, pairs = tiny.model("seq2seq", KINDS[name]), tiny.batch(6, 9)
    changed = pairs._replace(target=pairs.target.at[0, 2].set(5 - pairs.target[0, 2] % 2))
    difference = np.abs(tiny.logits(network, pairs) - tiny.logits(network, changed)).max(axis=-1)
    assert (difference[0, :3] == 0).all()
    assert (difference[0, 3:] > 0).all()
    assert (difference[1:] == 0).all()


@pytest.mark.parametrize("name", WITHOUT_ATTENTION)
def test_without_attention_a_step_sees_no_source(name: str) -> None:
    network, pairs = tiny.model("seq2seq", KINDS[name]), tiny.batch(6, 9)
    state = network.start(pairs.source)
    widths = {leaf.shape for leaf in jax.tree.leaves(state)}
    assert widths == {(len(pairs.source), 6)}


@pytest.mark.parametrize("name", WITH_ATTENTION)
def test_with_attention_the_order_of_the_memory_does_not_matter_but_its_content_does(
    name: str,
) -> None:
    """Attention is a weighted sum over a set: turned round, the outputs give the same steps."""
    network = tiny.model("seq2seq", KINDS[name])
    state = network.start(tiny.batch(6, 9).source)
    token = jnp.full(5, 3)
    step = eqx.filter_jit(lambda state: network.step(state, token)[1])
    keys, values = jax.tree.map(lambda leaf: leaf[:, ::-1], (state.keys, state.values))
    turned = state._replace(keys=keys, values=values)
    emptied = state._replace(values=jnp.zeros_like(state.values))
    np.testing.assert_allclose(step(state), step(turned), atol=2e-6)
    assert not np.allclose(step(state), step(emptied))


class Spy(Dropout):
    """Noise that notes where it is asked for, and of which width, and changes nothing."""

    places: list[tuple[str, int]] = eqx.field(static=True, default_factory=list)

    def __call__(self, place: str, values: Array, batch_axis: int = 0) -> Array:
        self.places.append((place, values.shape[-1]))
        return values


@pytest.mark.parametrize("name", KINDS)
def test_noise_falls_on_both_embeddings_and_on_what_the_pre_output_reads(name: str) -> None:
    network, pairs = tiny.model("seq2seq", KINDS[name]), tiny.batch(6, 9)
    spy = Spy(jax.random.key(0), jnp.array(0.2))
    jax.eval_shape(lambda: network.logits(pairs, spy))
    embedding, hidden, context = 5, 6, 12
    expected = [("source embedding", embedding)]
    if KINDS[name].dependency:
        expected.append(("target embedding", embedding))
    if KINDS[name].attention:
        width = hidden + context + embedding * KINDS[name].dependency
        expected.append(("pre-output", width))
    assert spy.places == expected


WRONG = {
    "hidden must be positive, not 0": {"hidden": 0},
    "hidden must be positive, not -3": {"hidden": -3},
    "embedding must be positive, not 0": {"embedding": 0},
    "a decoder has no input at all": {"attention": False, "dependency": False},
}


@pytest.mark.parametrize(("message", "values"), WRONG.items(), ids=WRONG)
def test_a_wrong_configuration_is_refused_at_once(message: str, values: dict[str, Any]) -> None:
    with pytest.raises(DaxyError, match=message):
        Config(**values)


def test_an_unknown_cell_is_refused_where_annotations_are_not_checked(
    refusal: Callable[[str], str],
) -> None:
    code = "from daxy.models.seq2seq import Config; Config(cell='gruu')"
    assert refusal(code) == "no cell named 'gruu'; did you mean gru?"


def test_an_unknown_architecture_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="did you mean seq2seq"):
        models.get("seq2sq")


@pytest.mark.slow
@pytest.mark.parametrize("hidden", [6, 10])
def test_two_maps_of_the_output_are_their_product(
    hidden: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fewer units than symbols, and more: the readout is two products, or one."""
    network, pairs = tiny.model("seq2seq", Config(hidden=hidden, embedding=5)), tiny.batch(6, 9)
    assert isinstance(network, Seq2Seq)
    assert network.pre_output is not None
    assert (network._readout()[1] is None) == (hidden > tiny.SIZES.target_symbols)
    logits, replayed = tiny.logits(network, pairs), tiny.replay(network, pairs)
    for last in (None, jnp.eye(tiny.SIZES.target_symbols)):
        product = network.pre_output @ network.output, last
        monkeypatch.setattr(type(network), "_readout", lambda _, product=product: product)
        jax.clear_caches()  # programs that were made before know nothing of it
        np.testing.assert_allclose(tiny.logits(network, pairs), logits, atol=1e-5)
        np.testing.assert_allclose(tiny.replay(network, pairs), replayed, atol=1e-5)


@pytest.mark.parametrize("is_dropped", [True, False])
def test_dropout_is_where_the_configuration_has_it(is_dropped: bool) -> None:
    """Under -Dep without noise on the source, what the pre-output reads is all that is dropped."""
    config = Config(hidden=6, embedding=5, dependency=False, pre_output_dropout=is_dropped)
    network, pairs = tiny.model("seq2seq", config), tiny.batch(6, 9)
    quiet = eqx.tree_at(lambda each: each.encoder.embedding, network, replace_fn=jnp.zeros_like)
    noise = Dropout(jax.random.key(0), jnp.float32(0.5))
    difference = np.abs(quiet.logits(pairs, noise) - quiet.logits(pairs))
    assert (difference.max() > 0) == is_dropped
