"""The weights of the PyTorch peer in daxy's stacked network, so that both compute the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from torch import Tensor, nn

from benchmarks.peers.torch_stacked import Stacked
from daxy.models.layers.recurrence import RecurrentLayer
from daxy.models.stacked import Model


def into_daxy(
    network: Stacked, model: Model, part: Callable[[Tensor], Tensor | None] = lambda weight: weight
) -> Model:
    """Return the model with the network's weights, or with what `part` takes from each of them.

    PyTorch keeps [outgoing, incoming] matrices, daxy [incoming, outgoing]; the order of gates and
    the places of biases are the same.
    """

    def taken(weight: Tensor) -> Any:
        found = part(weight)
        return jnp.zeros(weight.shape).T if found is None else jnp.asarray(found.detach().numpy().T)

    def layer(module: nn.RNNBase, number: int) -> RecurrentLayer:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        return RecurrentLayer(*(taken(getattr(module, f"{name}_l{number}")) for name in names))

    given = {
        "source_embedding": taken(network.source_embedding.weight).T,
        "target_embedding": taken(network.target_embedding.weight).T,
        "encoder": tuple(layer(network.encoder, n) for n in range(network.config.layers)),
        "decoder": tuple(layer(network.decoder, n) for n in range(network.config.layers)),
        "output": taken(network.output.weight),
        "output_bias": taken(network.output.bias),
    }
    if network.config.attention:
        given |= {name: taken(getattr(network, name).weight) for name in ("query", "key")}
        given["energy"] = taken(network.energy.weight)[:, 0]
    for name, value in given.items():
        model = eqx.tree_at(lambda tree, name=name: getattr(tree, name), model, value)
    return model
