"""A training step of the network with a stack, at length, against eager PyTorch; and its memory.

Both take batches of 10 of the same pairs of `transduction/copy` at the paper's sizes, on one core;
daxy takes them as `daxy train` does with one seed. `source` and `target` have half of the length
each, END and what begins a sequence included. What a step does in its time, and the bytes that it
needs beside weights and moments, are those of a step that is compiled alone.

    python -m benchmarks.memory_networks
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])  # before any library counts cores

import jax
import jax.numpy as jnp
import numpy as np
import torch

from benchmarks.peers import torch_transducer as peer
from benchmarks.peers.matmul_rate import fastest_product
from benchmarks.side_by_side import measure, warn_if_busy
from benchmarks.training import training_of
from daxy.batching.table import Table
from daxy.core.vocabulary import END, Vocabulary
from daxy.models import memories
from daxy.models.api import Batch, Sizes
from daxy.models.transducer import Config, Model
from daxy.training import optimizers
from daxy.training.devices import compiler_options
from daxy.training.objective import cross_entropy
from daxy.training.protocols import protocol

BATCH, SYMBOLS = 10, 130
TIMED = 130
LENGTHS = (128, 256, 512, 1024)
RECIPE = protocol("grefenstette2015")
MIB = 2**20
WEIGHTS, STORED, OTHER = "products with weights", "with stored vectors", "all else"
CONTAINERS = ("while", "conditional", "call")
"""Operations that others are parts of."""


def main() -> None:
    """Print seconds and a ratio, what a step does in its time, and its bytes by length."""
    warn_if_busy()
    torch.set_num_threads(1)
    pairs = drawn(TIMED)
    words = Vocabulary(tuple(f"symbol{code}" for code in range(2, SYMBOLS)))
    table = Table(words, words, np.asarray(pairs.source), np.asarray(pairs.target), {})
    ours = training_of("transducer", Config(), RECIPE, table, seeds=1, steps=1)
    timing = measure(ours, theirs(pairs), seconds=4.0)
    figures = f"daxy {timing.ours:.3f} s, torch {timing.theirs:.3f} s: {timing.ratio:.1f}x"
    spread = f"rounds from {min(timing.ratios):.1f}x to {max(timing.ratios):.1f}x"
    print(f"stack, {TIMED} tokens, batch {BATCH}: {figures} ({spread})")
    rate, done = fastest_product().rate, gigaflop(Config(), TIMED)
    bound = f"{done:.1f} GFLOP of products in a step, {done / timing.ours:.0f} GFLOP/s"
    print(f"{bound}; the machine's matrix rate is {rate:.0f} GFLOP/s")
    parts = (f"{what} {part:.0%}" for what, part in shares(Config(), pairs).items())
    print(f"of its time: {', '.join(parts)}")
    for name in memories.available():
        used = [needed(Config(memory=name), drawn(length)) for length in LENGTHS]
        known = zip(LENGTHS, used, strict=True)
        each = ", ".join(f"{length}: {bytes_ / MIB:.0f}" for length, bytes_ in known)
        grown = f"{used[-1] / used[0]:.1f}x at {LENGTHS[-1] / LENGTHS[0]:.0f}x the length"
        print(f"{name}, MiB of a step by length: {each}; {grown}")


def drawn(length: int) -> Batch:
    """Return pairs to copy that take so many steps: the start, a source, and a target with END."""
    count = length // 2 - 1
    codes = np.random.default_rng(0).integers(2, SYMBOLS, size=(BATCH, count))
    ended = np.pad(codes, ((0, 0), (0, 1)), constant_values=END)
    return Batch(jnp.asarray(ended), jnp.asarray(ended))


def compiled(config: Config, pairs: Batch) -> tuple[Any, tuple[Any, ...]]:
    """Return the program of a step and the weights and moments that it begins with."""
    model = Model(config, Sizes(SYMBOLS, SYMBOLS), key=jax.random.key(0))
    weights = jnp.full(len(pairs.target), 1 / pairs.target.size)

    def step(model: Any, moments: Any, pairs: Batch) -> tuple[Any, Any, Any]:
        loss, gradients = jax.value_and_grad(cross_entropy)(model, pairs, weights, None)
        rate, active = jnp.float32(RECIPE.optimizer.learning_rate), jnp.asarray(True)
        model, moments = optimizers.update(
            RECIPE, model, moments, gradients, learning_rate=rate, active=active
        )
        return model, moments, loss

    begin = model, optimizers.init(RECIPE, model)
    lowered = jax.jit(step, donate_argnums=(0, 1)).lower(*begin, pairs)
    return lowered.compile(compiler_options=compiler_options()), begin


def shares(config: Config, pairs: Batch) -> dict[str, float]:
    """Return what a step does, and in how much of its time, as the compiled program's trace says.

    A product of which each row has a matrix of its own is with stored vectors; of all others, one
    factor is a weight or what comes out is a weight's gradient.
    """
    program, begin = compiled(config, pairs)
    kinds = dict(kind for line in program.as_text().splitlines() for kind in operation(line))
    took = dict.fromkeys((WEIGHTS, STORED, OTHER), 0.0)
    *begin, _ = jax.block_until_ready(program(*begin, pairs))  # warm
    with TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            jax.block_until_ready(program(*begin, pairs))
        (path,) = Path(folder).rglob("*.trace.json.gz")
        events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    for event in events:
        if (name := event.get("name")) in kinds:
            took[kinds[name]] += event["dur"]
    return {what: took[what] / sum(took.values()) for what in took}


def operation(line: str) -> list[tuple[str, str]]:
    """Return the name and the kind of the operation that a line of a program tells, if it does."""
    told = re.match(r"\s*(?:ROOT )?%?([\w.-]+) = .*? ([a-z-]+)\(", line)
    if told is None or told[2] in CONTAINERS:
        return []
    if "lhs_batch_dims" in line:
        return [(told[1], STORED)]
    return [(told[1], WEIGHTS if told[2] == "dot" or "__ynn_fusion" in line else OTHER)]


def theirs(pairs: Batch) -> Callable[[], object]:
    """Return a call that takes a step of the peer's."""
    network = peer.StackTransducer(
        peer.TransducerConfig(source_symbols=SYMBOLS, target_symbols=SYMBOLS)
    )
    optimizer = peer.rmsprop(network)
    source = torch.tensor(np.asarray(pairs.source[:, :-1])).long()
    target = torch.tensor(np.asarray(pairs.target)).long()
    return lambda: network.train_step(source, target, optimizer).item()


def needed(config: Config, pairs: Batch) -> int:
    """Return the bytes that a step needs beside what it is given and gives."""
    program, _ = compiled(config, pairs)
    return program.memory_analysis().temp_size_in_bytes


def gigaflop(config: Config, steps: int) -> float:
    """Return the multiplications and additions of a training step's products, as GFLOP.

    Every product counts twice more for the way back: for the input's and the weight's gradient.
    """
    gates = (config.embedding + config.memory_width + config.hidden) * 4 * config.hidden
    heads = config.hidden * (config.memory_width + 2)
    slots = steps * config.memory_width
    said = (config.hidden + SYMBOLS) * config.embedding
    return 2 * 3 * BATCH * (steps * (gates + heads + slots) + steps // 2 * said) / 1e9


if __name__ == "__main__":
    main()
