"""Training steps and greedy decoding of Transformers against eager PyTorch.

Both train on the same batches of `scan/length` with the settings of Csordás et al. (2021), padded
alike to the longest pair; daxy also trains five seeds at once. A share is that of the rate at which
the machine's fastest product of large matrices ran in the same rounds, for the matrix products of
the network as the papers write it.

Both decode the test commands of `scan/addprim_jump` with the same weights, trained here for a short
moment so that outputs end. The peer sorts the commands by length and decodes them in batches, each
until its last output has ended, with a cache of keys and values and without one. It decodes only
some of the batches; its time for all is extrapolated.

    python -m benchmarks.transformers
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from statistics import median
from typing import Any

import jax
import numpy as np
import torch

import daxy
from benchmarks.peers import torch_transformer as peer
from benchmarks.peers.matmul_rate import fastest_product
from benchmarks.peers.transformer_weights import into_torch
from benchmarks.side_by_side import in_turns, warn_if_busy
from benchmarks.training import training_of
from daxy.batching.table import Rows, Table
from daxy.models.transformer import Config
from daxy.runs.saved import load_network
from daxy.training.devices import use_every_core
from daxy.training.protocols import protocol
from daxy.training.replicas import Replicas

RECIPE = protocol("csordas2021")
CONFIGS = {
    "relative universal": Config(shared_layers=True),
    "absolute": Config(positions="absolute"),
}
SEEDS = 5
STEPS = 2
"""Steps in a call."""
TASK = "scan/addprim_jump"
TRAINED = 300
"""Steps before decoding."""
TOGETHER, ONE_OF = 256, 6
"""Commands in a batch of the peer, and which batches it decodes: one of so many."""


def main() -> None:
    """Print milliseconds of a step, seconds of decoding, ratios and shares of the rate."""
    warn_if_busy()
    use_every_core()
    train()
    decode()


def train() -> None:
    """Print a line a network: milliseconds a step and seed, ratios, the shares of the rate."""
    split = daxy.load("scan/length")
    table = Table.of([split.train])
    source, target = table.source.shape[1], table.target.shape[1]
    product = fastest_product()
    print(f"matrix products: {product.rate:.0f} GFLOP/s at best on this machine")
    shape = f"batch {RECIPE.batch_size}, {source} source and {target} target tokens"
    print(f"training step, {shape}; torch with {torch.get_num_threads()} threads")
    print(f"in ms a step and seed; daxy trains {SEEDS} seeds at once")
    print(f"{'':18}   daxy  {SEEDS} seeds  torch  torch/daxy  1/{SEEDS} seeds  GFLOP", end="")
    print(f"  share: daxy  {SEEDS} seeds  torch")
    for name, config in CONFIGS.items():
        calls = (
            training_of("transformer", config, RECIPE, table, seeds=1, steps=STEPS),
            training_of("transformer", config, RECIPE, table, seeds=SEEDS, steps=STEPS),
            theirs(config, table),
            product.multiply,
        )
        seconds = np.array(in_turns(*calls))
        one, many, other = (seconds[:, :3] / (STEPS, STEPS * SEEDS, STEPS)).T
        rate = product.gflop / seconds[:, 3]
        gflop = RECIPE.batch_size * gigaflop(config, source, target, len(table.targets))
        times = f"{1e3 * median(one):7.1f} {1e3 * median(many):8.1f} {1e3 * median(other):6.1f}"
        ratios = f"{median(other / one):10.1f}x {median(one / many):8.2f}x"
        shares = [f"{median(gflop / each / rate):.0%}" for each in (one, many, other)]
        said = f"{shares[0]:>12} {shares[1]:>8} {shares[2]:>6}"
        print(f"{name:18}{times} {ratios} {gflop:7.1f} {said}", flush=True)


def theirs(config: Config, table: Table) -> Callable[[], object]:
    """Return a call that trains the peer for some steps, on the batches that daxy has."""
    network = peer_of(config, table)
    optimizer = peer.adam(network)
    shape = (STEPS, RECIPE.batch_size)
    rows = np.random.default_rng(0).integers(len(table.source), size=shape, dtype=np.int32)
    batches = [(codes(table.source[own]), codes(table.target[own])) for own in rows]

    def call() -> None:
        for source, target in batches:
            network.train_step(source, target, optimizer)

    return call


def gigaflop(config: Config, source: int, target: int, symbols: int) -> float:
    """Return the multiplications and additions of a training step's products for one example.

    Every product counts twice more for the way back: for the gradients of both factors. The keys of
    distances are left out: a batch has them once.

    Args:
        config: Settings of the network.
        source: Tokens of the source, END included.
        target: Tokens of the target, END included.
        symbols: Symbols of targets.
    """
    hidden, source = config.hidden, source + 1
    is_relative = config.positions == "relative"
    square, feedforward = hidden**2, 2 * hidden * config.feedforward
    encoder = source * (4 * square + feedforward + 2 * source * hidden)
    decoder = target * (6 * square + feedforward + 2 * (target + source) * hidden)
    memory = source * 2 * square
    distances = source * (2 * source - 1) * hidden + target * target * hidden
    layer = encoder + decoder + memory + (distances if is_relative else 0)
    return 2 * 3 * (config.layers * layer + target * hidden * symbols) / 1e9


def decode() -> None:
    """Print seconds for all commands, the ratios and how many outputs are equal."""
    config = CONFIGS["relative universal"]
    sys.stderr.write(f"training for {TRAINED} steps\n")
    with tempfile.TemporaryDirectory() as runs:
        recipe = RECIPE.with_settings(samples=TRAINED * RECIPE.batch_size, eval_every=TRAINED)
        settings = {"shared_layers": config.shared_layers}
        trained = daxy.train(TASK, "transformer", config=settings, training=recipe, runs=runs)
        model = load_network(trained.folders[0].path).model
    split = daxy.load(TASK)
    table = Table.of([split.train, split.validation, split.test])
    rows = table.rows(split.test)
    network = peer_of(config, table)
    into_torch(model, network)
    replicas = Replicas("transformer", config, RECIPE, table, (), (0,))
    alone = jax.tree.map(lambda leaf: leaf[None], model)
    limit = RECIPE.max_decode_length

    def ours() -> np.ndarray:
        return replicas.decode(alone, [rows])[0]

    batches = sampled(table, rows)
    sources = [codes(table.source[rows[one], : longest(table, rows[one])]) for one in batches]
    share = len(rows) / sum(map(len, batches))

    def said(*, has_cache: bool) -> list[np.ndarray]:
        return [network.greedy(own, limit, has_cache=has_cache).numpy() for own in sources]

    outputs = ours()
    lengths = np.count_nonzero(outputs, axis=1)
    same = np.mean(
        [
            np.array_equal(mine[: len(other)], other) and not mine[len(other) :].any()
            for one, batch in zip(batches, said(has_cache=True), strict=True)
            for mine, other in zip(outputs[one], batch, strict=True)
        ]
    )
    print(f"greedy decoding of {len(rows):,} commands, relative universal, {TRAINED} steps trained")
    ended = f"{np.mean(lengths < limit):.0%} end before {limit}"
    print(f"{lengths.mean():.1f} tokens an output, {ended}; {same:.1%} of the outputs are the same")
    calls = (ours, lambda: said(has_cache=True), lambda: said(has_cache=False))
    mine, cached, uncached = np.array(in_turns(*calls)).T
    print(f"daxy {median(mine):.2f} s")
    for name, other in (("with a cache", cached), ("without a cache", uncached)):
        whole = share * other
        few = f"extrapolated from {len(batches)} batches of {TOGETHER}"
        seconds = f"torch {name} {median(whole):.1f} s ({few})"
        print(f"{seconds}: {median(whole / mine):.1f}x", flush=True)


def peer_of(config: Config, table: Table) -> peer.EncoderDecoder:
    """Return the peer with daxy's settings."""
    sizes = {"source_symbols": len(table.sources), "target_symbols": len(table.targets)}
    settings: dict[str, Any] = asdict(config) | sizes
    return peer.EncoderDecoder(peer.TransformerConfig(**settings, dropout=RECIPE.dropout))


def sampled(table: Table, rows: Rows) -> list[np.ndarray]:
    """Return some of the batches of rows of similar length, as places in `rows`."""
    order = np.argsort(table.source_lengths[rows], kind="stable")
    batches = [order[first : first + TOGETHER] for first in range(0, len(order), TOGETHER)]
    return list(itertools.islice(batches, ONE_OF // 2, None, ONE_OF))


def longest(table: Table, rows: Rows) -> int:
    """Return the tokens of the longest source of some rows, END included."""
    return int(table.source_lengths[rows].max())


def codes(values: np.ndarray) -> torch.Tensor:
    """Return codes as the peer takes them."""
    return torch.from_numpy(values.astype(np.int64))


if __name__ == "__main__":
    main()
