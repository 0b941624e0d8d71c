"""The same weights in daxy's network and in the PyTorch peer, so that both compute the same."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import torch

from benchmarks.peers.torch_seq2seq import Seq2Seq, parameters, weights
from daxy.models.seq2seq import Model


def into_daxy(network: Seq2Seq, model: Model) -> Model:
    """Return the model with the network's weights; its arrays may have a leading replica axis.

    PyTorch keeps [outgoing, incoming] matrices, daxy [incoming, outgoing]; the order of gates and
    the places of biases are the same.
    """
    given = {name: np.asarray(value).T for name, value in weights(network).items()}
    found = _encoder(given) | _decoder(given, model)
    for path, value in found.items():
        model = eqx.tree_at(lambda tree, path=path: _at(tree, path), model, replace_fn=_like(value))
    return model


def into_torch(model: Model, network: Seq2Seq) -> None:
    """Give the network a model's weights, which must not have a replica axis; of GRU or SRN."""
    encoder = model.encoder
    named: dict[str, Any] = {
        "source_embedding": _from_zero(encoder.embedding),
        "target_embedding": _from_zero(model.target_embedding),
        "bridge": model.bridge[0],
        "bridge_bias": model.bridge_bias[0],
        "decoder_input_bias": model.gates_bias,
        "decoder_recurrent": model.state_to_gates,
        "decoder_recurrent_bias": model.state_bias,
        "attention_query": model.query,
        "attention_key": model.key,
        "attention_score": model.energy,
        "pre_output": model.pre_output,
        "output": model.output,
    }
    inputs = [
        part for part in (model.embedding_to_gates, model.context_to_gates) if part is not None
    ]
    named["decoder_input"] = jnp.concatenate(inputs)
    for way, side in enumerate(("forward", "backward")):
        named[f"encoder_{side}_input"] = encoder.input_to_gates[way]
        named[f"encoder_{side}_input_bias"] = encoder.input_bias[way]
        named[f"encoder_{side}_recurrent"] = encoder.state_to_gates[way]
        named[f"encoder_{side}_recurrent_bias"] = encoder.state_bias[way]
    with torch.no_grad():
        for name, parameter in parameters(network).items():
            parameter.copy_(torch.from_numpy(np.array(named[name]).T))


def _from_zero(embedding: Any) -> Any:
    """Return an embedding's transpose with zeros for PAD, which daxy never looks up."""
    return None if embedding is None else embedding.at[0].set(0).T


def _encoder(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    def both(name: str) -> np.ndarray:
        return np.stack([given[f"encoder_{side}_{name}"] for side in ("forward", "backward")])

    return {
        "encoder.embedding": given["source_embedding"].T,
        "encoder.input_to_gates": both("input"),
        "encoder.input_bias": both("input_bias"),
        "encoder.state_to_gates": both("recurrent"),
        "encoder.state_bias": both("recurrent_bias"),
    }


def _decoder(given: dict[str, np.ndarray], model: Model) -> dict[str, np.ndarray]:
    config = model.config
    split = config.embedding if config.dependency else 0
    found = {
        "bridge.0": given["bridge"],
        "bridge_bias.0": given["bridge_bias"],
        "gates_bias": given["decoder_input_bias"],
        "state_to_gates": given["decoder_recurrent"],
        "state_bias": given["decoder_recurrent_bias"],
        "output": given["output"],
    }
    if config.cell == "lstm":
        found |= {"bridge.1": given["bridge_cell"], "bridge_bias.1": given["bridge_cell_bias"]}
    if config.dependency:
        found["target_embedding"] = given["target_embedding"].T
        found["embedding_to_gates"] = given["decoder_input"][:split]
    if config.attention:
        found |= {
            "context_to_gates": given["decoder_input"][split:],
            "query": given["attention_query"],
            "key": given["attention_key"],
            "energy": given["attention_score"],
            "pre_output": given["pre_output"],
        }
    return found


def _at(tree: Any, path: str) -> Any:
    for name in path.split("."):
        tree = tree[int(name)] if name.isdigit() else getattr(tree, name)
    return tree


def _like(value: np.ndarray) -> Any:
    return lambda old: jnp.broadcast_to(jnp.asarray(value), old.shape)
