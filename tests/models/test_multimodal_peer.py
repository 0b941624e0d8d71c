"""The network of Ruis et al. in plain PyTorch, with the same weights, does the same to rounding."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests import tiny

from daxy.models._decoding import greedy
from daxy.models.multimodal import Config, Model
from daxy.training.objective import cross_entropy

torch = pytest.importorskip("torch", reason="no PyTorch: the extra `peers` installs it")
peers = pytest.importorskip("benchmarks.peers.torch_multimodal")
peer_weights = pytest.importorskip("benchmarks.peers.multimodal_weights")

pytestmark = pytest.mark.peer

CONFIG = Config(hidden=12, embedding=5, channels=4, kernels="1,3,5")
BATCH = tiny.batch(6, 9)


def peer_of(model: Model) -> Any:
    config = peers.MultimodalConfig(
        hidden=12,
        embedding=5,
        channels=4,
        kernels=CONFIG.sides,
        source_symbols=tiny.SIZES.source_symbols,
        target_symbols=tiny.SIZES.target_symbols,
        world_channels=tiny.SIZES.channels,
    )
    network = peers.Multimodal(config)
    peer_weights.into_torch(model, network)
    return network.eval()


def peer_batch() -> Any:
    source, target, world = (torch.tensor(np.asarray(each)).long() for each in BATCH)
    return peers.Batch(source, target, world.permute(0, 3, 1, 2).float())


def test_the_loss_and_every_gradient_agree() -> None:
    model: Any = tiny.model("multimodal", CONFIG)
    network = peer_of(model)
    loss = network.loss(peer_batch())
    loss.backward()
    tokens = int((BATCH.target != 0).sum())
    weights = jnp.full(len(BATCH.source), 1 / tokens)
    ours, gradients = jax.jit(jax.value_and_grad(cross_entropy))(model, BATCH, weights, None)
    np.testing.assert_allclose(ours, loss.item(), rtol=1e-5)
    wanted = dict(peer_of(gradients).named_parameters())
    for name, parameter in network.named_parameters():
        found = wanted[name].detach().numpy()
        np.testing.assert_allclose(parameter.grad.numpy(), found, atol=2e-6, err_msg=name)


def test_both_say_the_same() -> None:
    model: Any = tiny.model("multimodal", CONFIG)
    batch = peer_batch()
    theirs = peer_of(model).greedy(batch.source, batch.world, 12).numpy()
    np.testing.assert_array_equal(greedy(model, BATCH.given, 12), theirs)
