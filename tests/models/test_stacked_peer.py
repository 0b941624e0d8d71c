"""Lake & Baroni's network in plain PyTorch, from the same weights, does the same to rounding."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array
from tests import tiny

from daxy.models.api import Batch
from daxy.models.stacked import Model
from daxy.training.objective import cross_entropy

torch = pytest.importorskip("torch", reason="no PyTorch: the extra `peers` installs it")
peers = pytest.importorskip("benchmarks.peers.torch_stacked")
peer_weights = pytest.importorskip("benchmarks.peers.stacked_weights")

pytestmark = pytest.mark.peer

CONFIGS = tiny.stackeds(hidden=12)
BATCH = tiny.batch(6, 9)


def made(name: str) -> tuple[Any, Model]:
    """Return two implementations of one network."""
    config = CONFIGS[name]
    torch.manual_seed(len(name))
    peer = peers.Stacked(peers.StackedConfig(**asdict(config), dropout=0.0, **tiny.SYMBOLS))
    peer.output.bias.data[peers.EOS] += 0.1  # so that some outputs end early
    return peer, peer_weights.into_daxy(peer, tiny.model("stacked", config))


@pytest.fixture(scope="module", params=CONFIGS)
def pair(request: pytest.FixtureRequest) -> tuple[Any, Model]:
    return made(request.param)


def example(row: int) -> tuple[Any, Any]:
    """Return one example as the peer takes it: without padding."""
    pair = (BATCH.source, BATCH.target)
    return tuple(torch.tensor(np.trim_zeros(np.asarray(codes[row]))).long() for codes in pair)


@eqx.filter_jit
def loss_and_gradients(model: Model, batch: Batch, forced: Array) -> tuple[Any, Model]:
    weights = jnp.ones(len(batch.source))
    return eqx.filter_value_and_grad(cross_entropy)(model, batch, weights, None, forced=forced)


@pytest.mark.parametrize("forced", [True, False])
def test_losses_and_every_gradient_agree_with_and_without_teacher_forcing(
    pair: tuple[Any, Model], forced: bool
) -> None:
    peer, model = pair
    ours, gradients = loss_and_gradients(model, BATCH, jnp.full(len(BATCH.source), forced))
    peer.zero_grad()
    theirs = sum(peer.loss(*example(row), forced=forced) for row in range(len(BATCH.source)))
    theirs.backward()
    assert np.isclose(ours, theirs.item(), rtol=1e-5)
    expected = peer_weights.into_daxy(peer, model, lambda weight: weight.grad)
    for (path, mine), other in zip(
        jax.tree_util.tree_leaves_with_path(gradients), jax.tree.leaves(expected), strict=True
    ):
        name = jax.tree_util.keystr(path)
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5, err_msg=name)


def test_some_examples_end_by_themselves_before_their_targets_do() -> None:
    """Else the test above would say nothing about stopping."""
    ends = {
        len(peer.logits(*example(row), forced=False)) < len(example(row)[1])
        for peer, _ in map(made, CONFIGS)
        for row in range(len(BATCH.source))
    }
    assert ends == {True, False}
