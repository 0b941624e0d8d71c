"""The same weights in daxy's multimodal network and in the PyTorch peer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from benchmarks.peers.torch_multimodal import Multimodal
from daxy.core.vocabulary import PAD
from daxy.models.multimodal import Model


def into_torch(model: Model, network: Multimodal) -> None:
    """Give the network a model's weights or gradients, which must not have a replica axis."""
    given = {name: np.array(value) for name, value in _named(model)}
    for name in ("source_embedding", "target_embedding"):
        given[f"{name}.weight"][PAD] = 0  # which is never looked up
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.copy_(torch.from_numpy(given.pop(name)))
    assert not given, given.keys()


def _named(model: Model) -> Iterator[tuple[str, Any]]:
    """Yield the network's parameters by its names: it keeps [outgoing, incoming] matrices."""
    assert model.condition is not None
    assert model.pre_output is not None
    encoder, sizes = model.encoder, model.config.sides
    yield "source_embedding.weight", encoder.embedding
    yield "target_embedding.weight", model.target_embedding
    for way, end in enumerate(("", "_reverse")):
        yield f"encoder.weight_ih_l0{end}", encoder.input_to_gates[way].T
        yield f"encoder.weight_hh_l0{end}", encoder.state_to_gates[way].T
        yield f"encoder.bias_ih_l0{end}", encoder.input_bias[way]
        yield f"encoder.bias_hh_l0{end}", encoder.state_bias[way]
    world = model.world_encoder
    for number, (kernel, bias) in enumerate(zip(world.kernels, world.biases, strict=True)):
        side = sizes[number]
        windows = kernel.reshape(side, side, -1, kernel.shape[1])
        yield f"convolutions.{number}.weight", windows.transpose(3, 2, 0, 1)
        yield f"convolutions.{number}.bias", bias
    yield "bridge.weight", model.bridge.T
    yield "bridge.bias", model.bridge_bias
    yield "condition.weight", model.condition.T
    yield "condition.bias", model.condition_bias
    for name, key, query, energy in (
        ("word", model.word_key, model.word_query, model.word_energy),
        ("cell", model.cell_key, model.cell_query, model.cell_energy),
    ):
        yield f"{name}_attention.key.weight", key.T
        yield f"{name}_attention.query.weight", query.T
        yield f"{name}_attention.energy.weight", energy[None]
    yield "cell.weight_ih", model.input_to_gates.T
    yield "cell.weight_hh", model.state_to_gates.T
    yield "cell.bias_ih", model.input_bias
    yield "cell.bias_hh", model.state_bias
    yield "pre_output.weight", model.pre_output.T
    yield "output.weight", model.output.T
