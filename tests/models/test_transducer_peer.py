"""The network with a stack in plain PyTorch, from the same weights, does the same to rounding."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests import tiny

from daxy.models.api import Batch
from daxy.training.objective import cross_entropy

torch = pytest.importorskip("torch", reason="no PyTorch: the extra `peers` installs it")
peers = pytest.importorskip("benchmarks.peers.torch_transducer")
peer_weights = pytest.importorskip("benchmarks.peers.transducer_weights")

pytestmark = pytest.mark.peer


def test_losses_and_every_gradient_agree() -> None:
    config = replace(tiny.transducers()["deque x1"], memory="stack")
    torch.manual_seed(0)
    sizes = {"hidden": config.hidden, "embedding": config.embedding, "width": config.memory_width}
    peer = peers.StackTransducer(peers.TransducerConfig(**sizes, **tiny.SYMBOLS))
    model = peer_weights.into_daxy(peer, tiny.model("transducer", config))
    draw = np.random.default_rng(0)
    source, target = draw.integers(2, 5, size=(2, 4, 9))
    source = np.concatenate([source, np.ones((4, 1), int)], axis=1)
    target[0, 5:], target[:, -1], target[0, -1] = 0, 1, 0
    weights = jnp.full(4, 1 / np.count_nonzero(target))
    batch = Batch(jnp.asarray(source), jnp.asarray(target))
    ours, gradients = jax.value_and_grad(cross_entropy)(model, batch, weights, None)
    theirs = peer.loss(torch.tensor(source[:, :-1]), torch.tensor(target))
    theirs.backward()
    assert np.isclose(ours, theirs.item(), rtol=1e-5)
    expected = peer_weights.into_daxy(peer, model, lambda weight: weight.grad)
    for (path, mine), other in zip(
        jax.tree_util.tree_leaves_with_path(gradients), jax.tree.leaves(expected), strict=True
    ):
        name = jax.tree_util.keystr(path)
        np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-6, err_msg=name)
