"""The network of Ruis et al. in plain PyTorch, with the same weights, does the same to rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import ks_2samp
from tests import tiny

from daxy.models.api import Sizes
from daxy.models.decoding.greedy import greedy
from daxy.models.layers.dropout import Dropout
from daxy.models.multimodal import Config, Model
from daxy.training.objective import cross_entropy

torch = pytest.importorskip("torch", reason="no PyTorch: the extra `peers` installs it")
peers = pytest.importorskip("benchmarks.peers.torch_multimodal")
peer_weights = pytest.importorskip("benchmarks.peers.multimodal_weights")

pytestmark = pytest.mark.peer

CONFIG = Config(hidden=12, embedding=5, channels=4, kernel_sizes="1,3,5")
BATCH = tiny.batch(6, 9)


def new_peer(config: Config, sizes: Sizes) -> Any:
    return peers.Multimodal(
        peers.MultimodalConfig(
            hidden=config.hidden,
            embedding=config.embedding,
            channels=config.channels,
            kernels=config.sides,
            source_symbols=sizes.source_symbols,
            target_symbols=sizes.target_symbols,
            world_channels=sizes.channels,
        )
    )


def peer_of(model: Model) -> Any:
    network = new_peer(model.config, tiny.SIZES)
    peer_weights.into_torch(model, network)
    return network.eval()


def peer_batch() -> Any:
    source, target, world = (torch.tensor(np.asarray(each)).long() for each in BATCH)
    return peers.Batch(source, target, world.permute(0, 3, 1, 2).float())


def noisy(function: Callable[[Any], Any]) -> Any:
    """Return a function as a module of PyTorch."""
    module = torch.nn.Module()
    module.forward = function
    return module


def assert_same_gradients(model: Model, network: Any, noise: Dropout | None) -> None:
    weights = jnp.full(len(BATCH.source), 1 / int((BATCH.target != 0).sum()))
    ours, gradients = jax.jit(jax.value_and_grad(cross_entropy))(model, BATCH, weights, noise)
    loss = network.loss(peer_batch())
    loss.backward()
    np.testing.assert_allclose(ours, loss.item(), rtol=1e-5)
    wanted = dict(peer_of(gradients).named_parameters())
    for name, parameter in network.named_parameters():
        found = wanted[name].detach().numpy()
        np.testing.assert_allclose(parameter.grad.numpy(), found, atol=2e-6, err_msg=name)


def test_the_loss_and_every_gradient_agree() -> None:
    model: Any = tiny.model("multimodal", CONFIG)
    network = peer_of(model)
    assert_same_gradients(model, network, None)


def test_the_loss_and_every_gradient_agree_under_the_same_noise() -> None:
    model: Any = tiny.model("multimodal", CONFIG)
    noise = Dropout(jax.random.key(5), jnp.float32(0.3), first_slot=40)
    network = peer_of(model)
    places = iter(["source embedding", "target embedding"])

    def on_embeddings(values: Any) -> Any:
        return values * torch.tensor(np.asarray(noise(next(places), jnp.ones(values.shape))))

    def on_cells(features: Any) -> Any:
        own = Dropout(noise.key, jnp.float32(CONFIG.world_dropout), noise.first_slot)
        batch, channels, rows, columns = features.shape
        mask = np.asarray(own("cells", jnp.ones((batch, rows * columns, channels))))
        return features * torch.tensor(mask).transpose(1, 2).reshape(features.shape)

    network.dropout, network.world_dropout = noisy(on_embeddings), noisy(on_cells)
    assert_same_gradients(model, network, noise)
    assert next(places, None) is None


def test_first_weights_are_distributed_as_the_peer_draws_them() -> None:
    sizes = Sizes(20, 8, 16)
    torch.manual_seed(1)
    network, drawn = new_peer(Config(), sizes), new_peer(Config(), sizes)
    peer_weights.into_torch(Model(Config(), sizes, key=jax.random.key(1)), drawn)
    own = dict(drawn.named_parameters())
    for name, parameter in network.named_parameters():
        wanted, found = (it.detach().numpy().ravel() for it in (parameter, own[name]))
        same: Any = ks_2samp(wanted, found)
        assert same.pvalue > 1e-4, name


def test_both_say_the_same() -> None:
    model: Any = tiny.model("multimodal", CONFIG)
    batch = peer_batch()
    theirs = peer_of(model).greedy(batch.source, batch.world, 12).numpy()
    np.testing.assert_array_equal(greedy(model, BATCH.inputs, 12), theirs)
