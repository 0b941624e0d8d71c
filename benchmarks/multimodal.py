"""Training steps and greedy decoding of the network of Ruis et al. (2020) against eager PyTorch.

Both train on the same batches of 200 training examples of `gscan/compositional`, on one core. The
peer takes them as the authors' code does, padded to the longest target of each, and once more in
the parts that daxy pads apart. It decodes one example after another, as the authors' code does, and
in batches; both have the same weights, trained here for a while so that their outputs end.

    python -m benchmarks.multimodal
"""

from __future__ import annotations

import itertools
import os
import resource
import sys
from collections.abc import Callable, Sequence

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])  # before any library counts cores

import jax
import numpy as np
import torch

from benchmarks.peers import torch_multimodal as peer
from benchmarks.peers.multimodal_weights import into_torch
from benchmarks.side_by_side import measure, warn_if_busy
from daxy import tasks
from daxy.batching.table import Table
from daxy.learners.neural import Neural
from daxy.learners.neural.group import ReplicaGroup
from daxy.runs.experiment import Experiment
from daxy.training.loop import STEPS_PER_DISPATCH, Training
from daxy.training.placement import merged
from daxy.training.protocols import protocol

TASK = "gscan/compositional"
STRETCHES = 40
"""Stretches of steps that are taken before anything is decoded."""
STEPS = 40
"""Batches that the peer passes through."""
TOGETHER, ONE_OF = 2_000, 40
"""Examples that are decoded in batches, and which of them one after another: one of so many."""
BATCHES = 256, 2_000


def main() -> None:
    """Print seconds and ratios."""
    warn_if_busy()
    torch.set_num_threads(1)
    recipe = protocol("ruis2020")
    learner = Neural.named("multimodal", {}, recipe)
    asked = Experiment(task=TASK, learner=learner, data=tasks.data(TASK))
    learner.prepare()
    run = asked.of(0)
    training = ReplicaGroup([asked.store.job(run)]).training
    table = training.replicas.table
    stretches = training.first_steps(STRETCHES)
    rows = np.concatenate([np.asarray(each.rows)[:, 0] for each in stretches])
    words = {"source_symbols": len(table.sources), "target_symbols": len(table.targets)}
    network = peer.Multimodal(peer.MultimodalConfig(**words))

    call, trained = ours(training)
    for name, batches in (
        ("padded to the max_length", [[batch.ravel()] for batch in rows[:STEPS]]),
        ("in the same parts", [list(batch) for batch in rows[:STEPS]]),
    ):
        timing = measure(call, theirs(network, table, batches), seconds=4.0)
        each = timing.ours / STEPS_PER_DISPATCH
        ratio = timing.theirs / each
        print(f"step: daxy {each:.3f} s, torch, {name}, {timing.theirs:.3f} s: {ratio:.1f}x")

    sys.stderr.write("training until outputs end\n")
    for _ in range(STRETCHES):
        call()
    model = trained()
    one = jax.tree.map(lambda leaf: leaf[0], model)
    into_torch(one, network)
    network.eval()
    chosen = training.validation.rows[0][:TOGETHER]

    def say() -> np.ndarray:
        return training.replicas.decode(model, [chosen])[0]

    for every, size in ((ONE_OF, 1), *((1, size) for size in BATCHES)):
        said = decoding(network, table, chosen[::every], size, recipe.max_decode_length)
        same = np.mean((say()[::every] == said()).all(axis=1))
        timing = measure(say, said, seconds=2.0)
        mine, other = 1e3 * timing.ours / len(chosen), every * 1e3 * timing.theirs / len(chosen)
        name = "one by one" if size == 1 else f"{size:,} at a time"
        figures = f"daxy {mine:.2f} ms, torch, {name}, {other:.2f} ms: {other / mine:.0f}x"
        print(f"example: {figures}; {same:.1%} of the outputs are the same")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"most memory, both together: {most:.1f} GiB")


def ours(training: Training) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return a call that takes the next steps, and one that returns the weights then."""
    state = training.replicas.start()
    following = itertools.cycle(training.first_steps(STRETCHES))

    def call() -> None:
        nonlocal state
        state, _ = training.replicas.run(state, next(following))

    return call, lambda: merged([share.model for share in state])


def theirs(
    network: peer.Multimodal, table: Table, batches: Sequence[Sequence[np.ndarray]]
) -> Callable[[], object]:
    """Return a call that takes a step on the next batch, whose gradient is that of its parts."""
    optimizer = torch.optim.Adam(network.parameters())
    following = itertools.cycle([[batch_of(table, part) for part in batch] for batch in batches])

    def call() -> None:
        network.train()
        optimizer.zero_grad()
        batch = next(following)
        counts = [int((part.target != peer.PAD).sum()) for part in batch]
        for part, count in zip(batch, counts, strict=True):
            (network.loss(part) * (count / sum(counts))).backward()
        optimizer.step()

    return call


def decoding(
    network: peer.Multimodal, table: Table, rows: np.ndarray, size: int, limit: int
) -> Callable[[], np.ndarray]:
    """Return a call that decodes rows of the table, so many at a time."""
    batches = [batch_of(table, rows[first : first + size]) for first in range(0, len(rows), size)]

    def call() -> np.ndarray:
        said = [network.greedy(batch.source, batch.world, limit) for batch in batches]
        return torch.cat(said).numpy()

    return call


def batch_of(table: Table, rows: np.ndarray) -> peer.Batch:
    """Return rows of the table as the peer takes them."""
    worlds = table.worlds(rows)
    assert worlds is not None
    source, target = table.source[rows].astype(np.int64), table.target[rows].astype(np.int64)
    source, target = (codes[:, : (codes > 0).sum(axis=1).max()] for codes in (source, target))
    cells = worlds.astype(np.float32).transpose(0, 3, 1, 2)
    columns = map(np.ascontiguousarray, (source, target, cells))
    return peer.Batch(*map(torch.from_numpy, columns))


if __name__ == "__main__":
    main()
