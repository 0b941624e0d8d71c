"""Networks, batches and data that are small enough to compile and train in a test."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Int
from numpy.typing import NDArray

from daxy import models
from daxy.core.vocabulary import END, RESERVED
from daxy.models import memories
from daxy.models.api import Batch, Model, Sizes, init_decoder_state
from daxy.models.seq2seq import Config as Seq2Seq
from daxy.models.stacked import Config as Stacked
from daxy.models.transducer import Config as Transducer

SIZES = Sizes(source_symbols=11, target_symbols=8, channels=4)
SYMBOLS = {"source_symbols": SIZES.source_symbols, "target_symbols": SIZES.target_symbols}
"""The sizes of networks that see no worlds."""
GRID = 3


def slow(value: Any) -> Any:
    """Return a parameter of a test that is left to the slow tests."""
    return pytest.param(value, marks=pytest.mark.slow)


def seq2seqs(hidden: int = 6, embedding: int = 5) -> dict[str, Seq2Seq]:
    """Return every cell x attention x dependency there is, by the papers' names."""
    kinds = itertools.product(("srn", "gru", "lstm"), (True, False), (True, False))
    return {
        cell + "+attn" * attention + "-dep" * (not dependency): Seq2Seq(
            cell=cell,
            hidden=hidden,
            embedding=embedding,
            attention=attention,
            dependency=dependency,
        )
        for cell, attention, dependency in kinds
        if attention or dependency
    }


def stackeds(hidden: int = 6) -> dict[str, Stacked]:
    """Return some networks of Lake & Baroni (2018): each cell, with and without each choice."""
    kinds = (("srn", 1, True), ("gru", 2, True), ("lstm", 2, False), ("gru", 1, False))
    return {
        f"{cell} x{layers}{'+attn' * attention}": Stacked(
            cell=cell, hidden=hidden, layers=layers, attention=attention
        )
        for cell, layers, attention in kinds
    }


def transducers(hidden: int = 6, embedding: int = 5) -> dict[str, Transducer]:
    """Return a network with each memory, some of them deep, and a deep one without."""
    kinds = dict.fromkeys(memories.available(), 1) | {"stack": 2, "none": 2}
    return {
        f"{memory} x{layers}": Transducer(
            memory=memory,
            layers=layers,
            hidden=hidden,
            embedding=embedding,
            **({} if memory == "none" else {"memory_width": 4}),
        )
        for memory, layers in kinds.items()
    }


def transformers(config: type[Any], hidden: int = 6) -> dict[str, Any]:
    """Return a Transformer with each kind of positions, scaling and norms."""
    sizes = {"hidden": hidden, "feedforward": hidden + 1, "layers": 2}
    sizes["heads"] = 2 if hidden % 4 == 0 else 3
    kinds: dict[str, dict[str, Any]] = {
        "relative": {},
        "relative shared": {"shared_layers": True},
        "absolute": {"positions": "absolute"},
        "up": {
            "positions": "absolute",
            "embedding_scaling": "up",
            "norm": "pre",
            "tied_output": False,
        },
        "down": {"positions": "absolute", "embedding_scaling": "down"},
        "rotary": {"positions": "rotary", "norm": "pre", "shared_layers": True},
        "no positions": {"positions": "none"},
    }
    return {name: config(**sizes, **own) for name, own in kinds.items()}


def architectures(hidden: int = 6, embedding: int = 5) -> dict[str, tuple[str, Any]]:
    """Return each kind of seq2seq and of stacked, and other architectures' defaults, all small."""
    kinds = {
        "seq2seq": seq2seqs(hidden, embedding),
        "stacked": stackeds(hidden),
        "transducer": transducers(hidden, embedding),
    }
    # The peer's tests have all variants.
    for name, variants in (
        ("transformer", ("relative", "up", "down", "rotary")),
        ("decoder_only", ("relative", "rotary")),
    ):
        every = transformers(models.config(name), hidden)
        suffix = ", decoder-only" if name == "decoder_only" else ""
        kinds[name] = {f"{it}{suffix}": every[it] for it in variants}
    found: dict[str, tuple[str, Any]] = {
        name: (architecture, config)
        for architecture, configs in kinds.items()
        for name, config in configs.items()
    }
    widths = {"hidden": hidden, "embedding": embedding}
    for name in models.available():
        if name in kinds:
            continue
        config = models.get(name).Config()
        fields = {field.name for field in dataclasses.fields(config)}
        known = {width: value for width, value in widths.items() if width in fields}
        found[name] = (name, dataclasses.replace(config, **known))
    # What their flags make other networks of.
    for name, flag, value in (("multimodal", "variant", "paper"), ("luong", "copy", False)):
        other = dataclasses.replace(found[name][1], **{flag: value})
        found[f"{name}, {flag} {value}"] = (name, other)
    return found


def model(architecture: str, config: Any, seed: int = 0, sizes: Sizes = SIZES) -> Model:
    """Return a network with weights of about the usual size, drawn without compiling anything."""
    draws = np.random.default_rng(seed)
    shaped = eqx.filter_eval_shape(
        models.get(architecture).Model, config, sizes, key=jax.random.key(0)
    )

    def drawn(leaf: jax.ShapeDtypeStruct) -> Array:
        return jnp.asarray(draws.uniform(-0.6, 0.6, leaf.shape), leaf.dtype)

    return jax.tree.map(drawn, shaped)


def codes(seed: int, count: int, width: int, symbols: int) -> NDArray[np.int32]:
    """Return sequences of random lengths, END and padding included; the first fills the width."""
    draws = np.random.default_rng(seed)
    found = np.zeros((count, width), np.int32)
    for row in range(count):
        tokens = draws.integers(width) if row else width - 1
        found[row, :tokens] = draws.integers(RESERVED, symbols, tokens)
        found[row, tokens] = END
    return found


def batch(source: int, target: int, count: int = 5, seed: int = 0) -> Batch:
    """Return random pairs, padded to these widths, in random worlds."""
    shape = (count, GRID, GRID, SIZES.channels)
    world = np.random.default_rng(seed + 2).integers(2, size=shape)
    return Batch(
        jnp.asarray(codes(seed, count, source, SIZES.source_symbols)),
        jnp.asarray(codes(seed + 1, count, target, SIZES.target_symbols)),
        jnp.asarray(world),
    )


logits = eqx.filter_jit(lambda network, pairs: network.logits(pairs))


@eqx.filter_jit
def replay(network: Model, pairs: Batch) -> Array:
    """Return the logits of stepping through the targets, one token at a time."""

    def advance(state: Any, token: Int[Array, " batch"]) -> tuple[Any, Array]:
        return network.step(state, token)

    previous = pairs.decoder_inputs
    start = init_decoder_state(network, pairs.inputs, previous.shape[1])
    _, steps = jax.lax.scan(advance, start, previous.T)
    return steps.swapaxes(0, 1)
