"""Greedy decoding of SCAN's 7,706 jump test commands against eager PyTorch, with the same weights.

Both networks have the same trained-looking weights (those of the peer), sort the commands by length
and decode many at a time; each may stop a batch when every command in it has ended.

    python -m benchmarks.decoding
"""

from __future__ import annotations

import numpy as np
import torch

import daxy
from benchmarks.peers import torch_seq2seq as peer
from benchmarks.peers.weights import into_daxy
from benchmarks.side_by_side import measure, warn_if_busy
from daxy.batching.table import Table
from daxy.models import seq2seq
from daxy.training.protocol import Protocol
from daxy.training.replicas import Replicas

LIMIT = 50
TOGETHER = 512
"""Commands in a batch of the peer: of the sizes tried, the fastest."""


def main() -> None:
    """Print seconds for the whole test set, the ratio, and how many outputs are the same."""
    warn_if_busy()
    torch.manual_seed(0)
    split = daxy.load("scan/addprim_jump")
    table = Table.of([split.train, split.test])
    rows = table.rows(split.test)
    sizes = {"source_symbols": len(table.sources), "target_symbols": len(table.targets)}
    network = peer.Seq2Seq(peer.Seq2SeqConfig(hidden=256, **sizes))
    config = seq2seq.Config(hidden=256)
    replicas = Replicas("seq2seq", config, Protocol(), table, (), (0,))
    model = into_daxy(network, replicas.start().model)

    def ours() -> np.ndarray:
        return replicas.decode(model, [rows])[0]

    def theirs() -> np.ndarray:
        order = rows[np.argsort(table.source_lengths[rows], kind="stable")]
        outputs = np.zeros((len(table.source), LIMIT), np.int64)
        for first in range(0, len(order), TOGETHER):
            part = order[first : first + TOGETHER]
            width = table.source_lengths[part].max()
            source = torch.from_numpy(table.source[part, :width].astype(np.int64))
            found = network.greedy(source, LIMIT).numpy()
            outputs[part, : found.shape[1]] = found
        return outputs[rows]

    same = np.mean((ours() == theirs()).all(axis=1))
    timing = measure(ours, theirs, seconds=2.0)
    print(
        f"{len(rows):,} commands: daxy {timing.ours:.2f} s, torch {timing.theirs:.2f} s,", end=" "
    )
    print(f"{timing.ratio:.1f}x; {same:.1%} of the outputs are the same")
    jnp.zeros(1).block_until_ready()


if __name__ == "__main__":
    main()
