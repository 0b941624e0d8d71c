"""The same network in plain PyTorch, from the same weights, does the same to float32 rounding."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests import tiny
from tests.tiny import SIZES

from daxy.batching.epochs import Bucket
from daxy.batching.table import Table
from daxy.core.settings import to_dict
from daxy.core.vocabulary import PAD, Vocabulary
from daxy.models.api import Batch
from daxy.models.decoding.greedy import greedy
from daxy.models.seq2seq import Model
from daxy.training.config import TrainingConfig
from daxy.training.loop import one_replica
from daxy.training.objective import cross_entropy
from daxy.training.replicas import Replicas
from daxy.training.step import Steps

torch = pytest.importorskip("torch", reason="no PyTorch: the extra `peers` installs it")
peers = pytest.importorskip("benchmarks.peers.torch_seq2seq")
peer_weights = pytest.importorskip("benchmarks.peers.weights")

pytestmark = pytest.mark.peer

CONFIGS = tiny.seq2seqs(hidden=12, embedding=7)
# Source and target, padded; the network takes another way where the source is longer.
WIDTHS = [(6, 9), (9, 6)]
# The paper's, and one whose clipping and decay are too strong to be overlooked.
BATCH = 5
"""The examples that `tiny.batch` makes."""
ALIKE = TrainingConfig().with_settings(dropout=0.0, batch_size=BATCH)
RECIPES = {
    (6, 9): ALIKE.with_settings(learning_rate=0.2, max_grad_norm=5.0, weight_decay=1e-8),
    (9, 6): ALIKE.with_settings(learning_rate=0.7, max_grad_norm=0.1, weight_decay=0.05),
}
PAIRS = [(name, WIDTHS[0]) for name in CONFIGS]
PAIRS += [(name, WIDTHS[1]) for name in CONFIGS if "attn" in name]
LIMIT = 12


@dataclass(frozen=True)
class Pair:
    """Two implementations of one network, and a batch for each."""

    peer: Any
    peer_batch: Any
    model: Model
    batch: Batch


@pytest.fixture(scope="module", params=PAIRS, ids=str)
def pair(request: pytest.FixtureRequest) -> Pair:
    name, widths = request.param
    config = CONFIGS[name]
    torch.manual_seed(len(name))
    peer_config = peers.Seq2SeqConfig(**to_dict(config), dropout=0.0, **tiny.SYMBOLS)
    peer = peers.Seq2Seq(peer_config)
    # We never choose PAD. The mean of the others' weights is never the largest: nor does the peer.
    output = peer.decoder.output.weight.data
    output[PAD] = output[PAD + 1 :].mean(dim=0)
    model = peer_weights.into_daxy(peer, tiny.model("seq2seq", config))
    batch = tiny.batch(*widths)
    return Pair(
        peer,
        peers.Batch(*(torch.tensor(np.asarray(c)).long() for c in (batch.source, batch.target))),
        model,
        batch,
    )


@jax.jit
def loss_and_gradients(model: Model, batch: Batch) -> tuple[Any, Model]:
    weights = jnp.full(len(batch.source), 1 / len(batch.source))
    return jax.value_and_grad(cross_entropy)(model, batch, weights, None)


def assert_same(ours: Any, theirs: Any, scale: float = 1.0) -> None:
    """Compare to float32 rounding, a dozen sums deep."""
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-4, atol=2e-6 * scale)


def test_logits_agree(pair: Pair) -> None:
    theirs = pair.peer.logits(pair.peer_batch).detach().numpy()
    is_target = np.asarray(pair.batch.is_target)
    assert_same(np.asarray(tiny.logits(pair.model, pair.batch))[is_target], theirs[is_target])


def test_losses_agree(pair: Pair) -> None:
    theirs = pair.peer.loss(pair.peer_batch).item()
    assert_same(loss_and_gradients(pair.model, pair.batch)[0], theirs, scale=10)


def test_every_gradient_agrees(pair: Pair) -> None:
    _, gradients = loss_and_gradients(pair.model, pair.batch)
    assert_every_array_agrees(gradients, peer_gradients(pair))


def test_one_step_of_training_agrees(pair: Pair) -> None:
    recipe = RECIPES[pair.batch.source.shape[1], pair.batch.target.shape[1]]
    peer = copy.deepcopy(pair.peer)
    peer.zero_grad()
    rate, decay = recipe.optimizer.learning_rate, recipe.optimizer.weight_decay
    optimizer = torch.optim.SGD(peer.parameters(), lr=rate, weight_decay=decay)
    peer.loss(pair.peer_batch).backward()
    torch.nn.utils.clip_grad_norm_(peer.parameters(), recipe.max_grad_norm)
    optimizer.step()
    assert_every_array_agrees(stepped(pair, recipe), peer)


def test_greedy_decoding_agrees(pair: Pair) -> None:
    theirs = pair.peer.greedy(pair.peer_batch.source, LIMIT).numpy()
    ours = greedy(pair.model, pair.batch.inputs, LIMIT)
    np.testing.assert_array_equal(ours[:, : theirs.shape[1]], theirs)
    assert (ours[:, theirs.shape[1] :] == PAD).all()


def peer_gradients(pair: Pair) -> Any:
    """Return the peer with its gradients in the place of its weights."""
    peer = copy.deepcopy(pair.peer)
    peer.zero_grad()
    peer.loss(pair.peer_batch).backward()
    for weight in peer.parameters():
        weight.data = torch.zeros_like(weight) if weight.grad is None else weight.grad
    return peer


def stepped(pair: Pair, recipe: TrainingConfig) -> Model:
    """Return the network after one step of the one training loop there is."""
    count = len(pair.batch.source)
    table = Table(
        sources=Vocabulary(tuple(map(str, range(SIZES.source_symbols - 2)))),
        targets=Vocabulary(tuple(map(str, range(SIZES.target_symbols - 2)))),
        source=np.asarray(pair.batch.source, np.uint16),
        target=np.asarray(pair.batch.target, np.uint16),
        row_of={},
    )
    shape = Bucket(pair.batch.source.shape[1], pair.batch.target.shape[1])
    replicas = Replicas("seq2seq", pair.model.config, recipe, table, (shape,), (0,))
    model = jax.tree.map(lambda leaf: leaf[None], pair.model)
    step = Steps(
        bucket=jnp.zeros((1, 1), int),
        rows=jnp.arange(count)[None, None, None],
        weights=jnp.full((1, 1, 1, count), 1 / count),
        number=jnp.zeros(1, int),
        active=jnp.ones((1, 1), bool),
        learning_rate=jnp.full((1, 1), recipe.optimizer.learning_rate),
    )
    zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape), replicas.shapes)
    (state,), _ = replicas.run([zeros._replace(model=model)], step)
    return one_replica(state.model, 0)


def assert_every_array_agrees(ours: Model, peer: Any) -> None:
    unset = jax.tree.map(lambda leaf: jnp.full_like(leaf, jnp.nan), ours)
    theirs = jax.tree.leaves(peer_weights.into_daxy(peer, unset))
    for (path, mine), other in zip(jax.tree_util.tree_leaves_with_path(ours), theirs, strict=True):
        try:
            assert_same(mine, np.asarray(other))
        except AssertionError as error:
            raise AssertionError(f"{jax.tree_util.keystr(path)}: {error}") from None
