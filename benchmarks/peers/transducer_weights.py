"""The weights of the PyTorch peer in daxy's transducer, so that both compute the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from torch import Tensor, nn

from benchmarks.peers.torch_transducer import StackTransducer
from daxy.models.layers.recurrence import RecurrentLayer
from daxy.models.transducer import Model


def into_daxy(
    network: StackTransducer,
    model: Model,
    part: Callable[[Tensor], Tensor | None] = lambda weight: weight,
) -> Model:
    """Return the model with the network's weights, or with what `part` takes from each of them.

    PyTorch keeps [outgoing, incoming] matrices, daxy [incoming, outgoing]; the order of gates and
    of what is wanted, and the places of biases, are the same.
    """

    def taken(weight: Tensor) -> Any:
        found = part(weight)
        return jnp.zeros(weight.shape).T if found is None else jnp.asarray(found.detach().numpy().T)

    cell = network.controller
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    model = eqx.tree_at(
        lambda tree: (
            tree.source_embedding,
            tree.target_embedding,
            tree.first,
            tree.controller,
            tree.output,
            tree.output_bias,
        ),
        model,
        (
            taken(network.source_embedding.weight).T,
            taken(network.target_embedding.weight).T,
            taken(network.first)[None],
            (RecurrentLayer(*(taken(getattr(cell, name)) for name in names)),),
            taken(network.output.weight),
            taken(network.output.bias),
        ),
    )
    heads: Any = model.heads
    for name in ("wants", "values", "said"):
        layer: nn.Linear = getattr(network, name)
        heads = eqx.tree_at(
            lambda tree, name=name: (getattr(tree, name), getattr(tree, f"{name}_bias")),
            heads,
            (taken(layer.weight), taken(layer.bias)),
        )
    return eqx.tree_at(lambda tree: tree.heads, model, heads)
