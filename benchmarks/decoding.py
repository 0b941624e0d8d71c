"""Greedy decoding of SCAN's 7,706 jump test commands against eager PyTorch, with the same weights.

The network is trained here for a few epochs, so that its outputs end as a trained one's do. The
peer sorts the commands by length and decodes them in batches: of 32, as both train, and of the size
that was the fastest of those tried. It ends a batch when every command in it has ended.

    python -m benchmarks.decoding
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable

import jax
import numpy as np
import torch

import daxy
from benchmarks.peers import torch_seq2seq as peer
from benchmarks.peers.weights import into_torch
from benchmarks.side_by_side import measure, warn_if_busy
from daxy.batching.table import Table
from daxy.models import seq2seq
from daxy.runs.saved import load_network
from daxy.training.config import TrainingConfig
from daxy.training.replicas import Replicas

TASK = "scan/addprim_jump"
EPOCHS = 3
TOGETHER = (32, 512)


def main() -> None:
    """Print, for each batch size of the peer, seconds, the ratio and how many outputs are equal."""
    warn_if_busy()
    sys.stderr.write(f"training for {EPOCHS} epochs\n")
    with tempfile.TemporaryDirectory() as runs:
        trained = daxy.train(
            TASK, training=TrainingConfig().with_settings(epochs=EPOCHS), runs=runs
        )
        model = load_network(trained.folders[0].path).model
    split = daxy.load(TASK)
    table = Table.of([split.train, split.validation, split.test])
    rows = table.rows(split.test)
    sizes = {"source_symbols": len(table.sources), "target_symbols": len(table.targets)}
    network = peer.Seq2Seq(peer.Seq2SeqConfig(**sizes))
    into_torch(model, network)
    replicas = Replicas("seq2seq", seq2seq.Config(), TrainingConfig(), table, (), (0,))
    alone = jax.tree.map(lambda leaf: leaf[None], model)

    def ours() -> np.ndarray:
        return replicas.decode(alone, [rows])[0]

    for together in TOGETHER:
        theirs = peer_decoding(network, table, rows, together)
        same = np.mean((ours() == theirs()).all(axis=1))
        timing = measure(ours, theirs, seconds=2.0)
        seconds = f"daxy {timing.ours:.2f} s, torch in batches of {together} {timing.theirs:.2f} s"
        outputs = f"{same:.1%} of the outputs are the same"
        print(f"{len(rows):,} commands: {seconds}, {timing.ratio:.1f}x; {outputs}", flush=True)


def peer_decoding(
    network: peer.Seq2Seq, table: Table, rows: np.ndarray, together: int
) -> Callable[[], np.ndarray]:
    """Return a call that decodes rows of the table, so many at a time."""
    limit = TrainingConfig().max_decode_length
    order = np.argsort(table.source_lengths[rows], kind="stable")

    def call() -> np.ndarray:
        outputs = np.zeros((len(rows), limit), np.int64)
        for first in range(0, len(order), together):
            part = order[first : first + together]
            width = table.source_lengths[rows[part]].max()
            source = torch.from_numpy(table.source[rows[part], :width].astype(np.int64))
            found = network.greedy(source, limit).numpy()
            outputs[part, : found.shape[1]] = found
        return outputs

    return call


if __name__ == "__main__":
    main()
