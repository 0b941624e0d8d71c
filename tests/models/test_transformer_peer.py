"""Transformers in plain PyTorch, from the same weights, do the same to rounding."""

from __future__ import annotations

import itertools
from dataclasses import asdict
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests import tiny

from daxy import models
from daxy.core.vocabulary import PAD
from daxy.models.api import Batch
from daxy.models.decoding.greedy import greedy
from daxy.training.objective import cross_entropy

torch = pytest.importorskip("torch", reason="no PyTorch: the extra `peers` installs it")
peers = pytest.importorskip("benchmarks.peers.torch_transformer")
peer_weights = pytest.importorskip("benchmarks.peers.transformer_weights")

pytestmark = pytest.mark.peer

NETWORKS = {"transformer": peers.EncoderDecoder, "decoder_only": peers.DecoderOnly}
KINDS = [
    (architecture, name)
    for architecture in NETWORKS
    for name in tiny.transformers(models.config(architecture))
]
FEW = ("relative", "up", "rotary")
"""Each way of computing there is; the others are mixtures of these, and slow tests."""
BATCH = tiny.batch(7, 9, count=12)
SOURCE, TARGET = (torch.tensor(np.asarray(codes)).long() for codes in BATCH[:2])
LIMIT = 12


def made(architecture: str, name: str) -> tuple[Any, Any]:
    """Return two implementations of one network, every weight of which is random.

    Some of its outputs end early, and others do not.
    """
    config = tiny.transformers(models.config(architecture), hidden=12)[name]
    peer = NETWORKS[architecture](
        peers.TransformerConfig(**asdict(config), dropout=0.0, **tiny.SYMBOLS)
    )
    for seed in itertools.count():
        draw_weights(peer, seed)
        lengths = (peer.greedy(SOURCE, LIMIT) != PAD).sum(dim=1)
        if lengths.max() == LIMIT and any(1 < length < LIMIT for length in lengths):
            return peer, peer_weights.into_daxy(peer, tiny.model(architecture, config))
    raise AssertionError


def draw_weights(peer: Any, seed: int) -> None:
    draws = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in peer.parameters():
            weight.uniform_(-0.5, 0.5, generator=draws)
        for module in peer.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight += 1


@pytest.fixture(
    scope="module",
    params=[kind if kind[1] in FEW else tiny.slow(kind) for kind in KINDS],
    ids=" ".join,
)
def pair(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    return made(*request.param)


@jax.jit
def passes(model: Any, batch: Batch) -> tuple[Any, Any, Any]:
    """Return logits, loss and gradients."""
    weights = jnp.full(len(batch.source), 1 / len(batch.source))
    loss, gradients = jax.value_and_grad(cross_entropy)(model, batch, weights, None)
    return model.logits(batch), loss, gradients


def test_logits_losses_and_every_gradient_agree(pair: tuple[Any, Any]) -> None:
    peer, model = pair
    logits, ours, gradients = passes(model, BATCH)
    is_target = np.asarray(BATCH.is_target)
    their_logits = peer.logits(SOURCE, TARGET).detach().numpy()[is_target]
    np.testing.assert_allclose(np.asarray(logits)[is_target], their_logits, rtol=1e-5, atol=1e-5)
    peer.zero_grad()
    theirs = peer.loss(SOURCE, TARGET)
    theirs.backward()
    assert np.isclose(ours, theirs.item(), rtol=1e-5)
    expected = peer_weights.into_daxy(peer, model, lambda weight: weight.grad)
    for (path, mine), other in zip(
        jax.tree_util.tree_leaves_with_path(gradients), jax.tree.leaves(expected), strict=True
    ):
        name = jax.tree_util.keystr(path)
        assert np.abs(other).max() > 0, name
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4, err_msg=name)


def test_greedy_outputs_agree_with_and_without_a_cache(pair: tuple[Any, Any]) -> None:
    peer, model = pair
    ours = greedy(model, BATCH.inputs, LIMIT)
    for has_cache in (True, False):
        theirs = peer.greedy(SOURCE, LIMIT, has_cache=has_cache).numpy()
        np.testing.assert_array_equal(ours[:, : theirs.shape[1]], theirs)
        assert (ours[:, theirs.shape[1] :] == PAD).all()


def test_weights_return_as_they_went(pair: tuple[Any, Any]) -> None:
    peer, model = pair
    other = type(peer)(peer.config)
    peer_weights.into_torch(model, other)
    for (name, weight), copy in zip(peer.named_parameters(), other.parameters(), strict=True):
        assert torch.equal(weight, copy), name
