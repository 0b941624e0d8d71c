"""The same weights in daxy's Transformers and in the PyTorch peer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.peers import torch_transformer as peer
from daxy.models import decoder_only, transformer

Model = TypeVar("Model", transformer.Model, decoder_only.Model)
Part = Callable[[Tensor], Tensor]
"""Returns what is taken from a parameter."""


def into_daxy(
    network: peer.Network,
    model: Model,
    part: Callable[[Tensor], Tensor | None] = lambda weight: weight,
) -> Model:
    """Return the model with the network's weights, or with what `part` takes from each of them."""

    def taken(weight: Tensor) -> Tensor:
        values = part(weight)
        return torch.zeros_like(weight) if values is None else values.detach()

    def copied(leaf: Any, view: Tensor) -> Any:
        return jnp.asarray(view.numpy().reshape(leaf.shape))

    return jax.tree.map(copied, model, _views(network, model, taken))


def into_torch(model: Any, network: peer.Network) -> None:
    """Give the network a model's weights, which must not have a replica axis."""

    def put(leaf: Any, view: Tensor) -> None:
        view.copy_(torch.from_numpy(np.array(leaf)).reshape(view.shape))

    jax.tree.map(put, model, _views(network, model, Tensor.detach))


def _views(network: peer.Network, model: Any, taken: Part) -> Any:
    """Return the model with views of the network's parameters in the place of its arrays.

    PyTorch keeps [outgoing, incoming] matrices, daxy [incoming, outgoing]. A view may have more
    axes than its array.
    """
    fields: dict[str, Any] = {
        "source_embedding": taken(network.source_embedding.weight),
        "target_embedding": taken(network.target_embedding.weight),
        "output_bias": taken(network.output.bias),
    }
    if not network.config.tied_output:
        fields["output"] = taken(network.output.weight).T
    stacks = {"layers": network.stack}
    if isinstance(network, peer.EncoderDecoder):
        stacks = {"encoder": network.encoder, "decoder": network.stack}
    for name, stack in stacks.items():
        layers = getattr(model, name)
        pairs = zip(layers, stack.repeated()[: len(layers)], strict=True)
        fields[name] = tuple(_layer(old, layer, taken) for old, layer in pairs)
    if network.config.norm == "pre":
        if isinstance(network, peer.EncoderDecoder):
            stacks = network.encoder, network.stack
            pairs = zip(model.norms, stacks, strict=True)
            fields["norms"] = tuple(_norm(old, stack.norm, taken) for old, stack in pairs)
        else:
            fields["norm"] = _norm(model.norm, network.stack.norm, taken)
    return _with(model, fields)


def _layer(old: Any, layer: peer.Layer, taken: Part) -> Any:
    pairs = zip(old.norms, layer.norms, strict=True)
    fields = {
        "attention": _attention(old.attention, layer.attention, taken),
        "inner": taken(layer.inner.weight).T,
        "inner_bias": taken(layer.inner.bias),
        "outer": taken(layer.outer.weight).T,
        "outer_bias": taken(layer.outer.bias),
        "norms": tuple(_norm(norm, module, taken) for norm, module in pairs),
    }
    if layer.cross is not None:
        fields["cross"] = _attention(old.cross, layer.cross, taken)
    return _with(old, fields)


def _attention(old: Any, module: peer.Attention, taken: Part) -> Any:
    key, value = taken(module.key_value.weight).chunk(2)

    def transposed(weight: Tensor) -> Tensor:
        """Return the transpose; rotary positions of daxy pair the halves of a head."""
        if not module.is_rotary:
            return weight.T
        return weight.unflatten(0, (module.heads, -1, 2)).permute(3, 0, 2, 1)

    fields = {
        "query": transposed(taken(module.query.weight)),
        "key": transposed(key),
        "value": value.T,
        "merge": taken(module.merge.weight).T,
    }
    if module.is_relative:
        relative = {
            "weight": taken(module.distance.weight).T,
            "content_bias": taken(module.content_bias),
            "position_bias": taken(module.position_bias),
        }
        fields["relative"] = _with(old.relative, relative)
    return _with(old, fields)


def _norm(old: Any, module: nn.Module, taken: Part) -> Any:
    assert isinstance(module, nn.LayerNorm)
    return _with(old, {"scale": taken(module.weight), "shift": taken(module.bias)})


def _with(module: Any, fields: dict[str, Any]) -> Any:
    """Return a module with other fields."""
    return eqx.tree_at(
        lambda tree: [getattr(tree, name) for name in fields], module, [*fields.values()]
    )
