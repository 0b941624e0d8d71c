"""A training step of GRU + attention against eager PyTorch, on the same random batches.

Two counts of multiplications give two shares of the machine's matrix-multiply rate: of the rate at
which its fastest product of large matrices ran in the same rounds. `as written` counts the network
as the paper writes it, and so does the peer's share. daxy gets by with fewer products (see
`daxy.models.seq2seq`: a linear map of a weighted sum is applied where it meets fewer rows, and the
two maps of the output, between which nothing stands, are one where symbols are few); `as made`
counts those that it makes.

    python -m benchmarks.training
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import jax.numpy as jnp
import numpy as np
import torch

from benchmarks.peers import torch_seq2seq as peer
from benchmarks.peers.matmul_rate import fastest_product
from benchmarks.side_by_side import in_turns, warn_if_busy
from daxy.batching.epochs import Bucket
from daxy.batching.table import Table
from daxy.core.examples import Examples
from daxy.models import seq2seq
from daxy.training.config import TrainingConfig
from daxy.training.devices import use_every_core
from daxy.training.replicas import Replicas
from daxy.training.step import Steps

EMBEDDING, EXAMPLES = 64, 1_000


@dataclass(frozen=True)
class Size:
    """One measurement; lengths include END."""

    hidden: int
    batch: int
    seeds: int
    source: int = 10
    target: int = 25
    words: int = 13
    """Different words of sources; SCAN's unless given, and below."""
    actions: int = 6
    """Different ones of targets."""

    @property
    def symbols(self) -> int:
        """What a target's token can be, its end and padding among them."""
        return self.actions + 2

    @property
    def gflop_as_written(self) -> float:
        """Multiplications and additions of a step of one seed as the paper writes the network."""
        hidden, twice = self.hidden, 2 * self.hidden
        attention = self.source * (hidden + twice)
        features = EMBEDDING + twice + hidden
        output = features * hidden + hidden * self.symbols
        return self._gflop(self.target * (attention + twice * 3 * hidden + output))

    @property
    def gflop_as_made(self) -> float:
        """The same as daxy gets by with: the context meets the gates' weight where rows are few."""
        hidden, twice, gates = self.hidden, 2 * self.hidden, 3 * self.hidden
        rows = min(self.source, self.target)
        summed = gates if self.source <= self.target else twice
        attention = self.target * self.source * (hidden + summed + twice)
        through = hidden * (EMBEDDING + twice + hidden + self.symbols)
        at_once = (EMBEDDING + twice + hidden) * self.symbols
        output = self.target * min(through, at_once)
        return self._gflop(attention + rows * twice * gates + output)

    def _gflop(self, others: int) -> float:
        """Return the sum of `others` and what both counts share, of one example, as a step's GFLOP.

        Every product counts twice more for the way back: for the input's and the weight's gradient.
        """
        hidden, twice, gates = self.hidden, 2 * self.hidden, 3 * self.hidden
        encoder = self.source * (2 * (EMBEDDING + hidden) * gates + twice * hidden)
        decoder = self.target * (hidden * hidden + (EMBEDDING + hidden) * gates)
        return 2 * 3 * self.batch * (encoder + decoder + others) / 1e9


SIZES = (
    Size(hidden=256, batch=32, seeds=1),
    Size(hidden=256, batch=32, seeds=3),
    Size(hidden=256, batch=32, seeds=3, source=25, target=10),
    Size(hidden=256, batch=32, seeds=1, source=8, target=9, words=2_800, actions=4_600),
    Size(hidden=100, batch=32, seeds=5),
    Size(hidden=100, batch=1, seeds=1),
    Size(hidden=100, batch=1, seeds=5),
    Size(hidden=50, batch=1, seeds=20),
)


def ours(size: Size, table: Table, steps: int) -> Callable[[], object]:
    """Return a call that trains every seed for some steps."""
    config = seq2seq.Config(hidden=size.hidden, embedding=EMBEDDING)
    recipe = TrainingConfig().with_settings(batch_size=size.batch)
    return training_of("seq2seq", config, recipe, table, seeds=size.seeds, steps=steps)


def training_of(
    architecture: str, config: Any, recipe: TrainingConfig, table: Table, *, seeds: int, steps: int
) -> Callable[[], object]:
    """Return a call that takes some steps of every seed, each on rows drawn from a table.

    All are as wide as the table is.
    """
    buckets = (Bucket(table.source.shape[1], table.target.shape[1]),)
    replicas = Replicas(architecture, config, recipe, table, buckets, tuple(range(seeds)))
    shape = (steps, seeds, 1, recipe.batch_size)
    rows = np.random.default_rng(0).integers(len(table.source), size=shape, dtype=np.int32)
    stretch = Steps(
        bucket=jnp.zeros((steps, 1), jnp.int32),
        rows=jnp.asarray(rows),
        weights=jnp.full(shape, 1 / recipe.batch_size),
        number=jnp.arange(steps),
        active=jnp.ones(shape[:2], bool),
        learning_rate=jnp.full(shape[:2], recipe.optimizer.learning_rate),
    )
    state = replicas.start()

    def call() -> None:
        nonlocal state
        state, _ = replicas.run(state, stretch)

    return call


def theirs(size: Size, table: Table, steps: int) -> Callable[[], object]:
    """Return a call that trains one network for as many steps."""
    config = peer.Seq2SeqConfig(
        hidden=size.hidden,
        embedding=EMBEDDING,
        source_symbols=len(table.sources),
        target_symbols=len(table.targets),
    )
    model = peer.Seq2Seq(config)
    optimizer = peer.sgd(model)
    shape = (steps, size.batch)
    rows = np.random.default_rng(0).integers(EXAMPLES, size=shape)
    batches = [
        peer.Batch(
            torch.from_numpy(table.source[row].astype(np.int64)),
            torch.from_numpy(table.target[row].astype(np.int64)),
        )
        for row in rows
    ]

    def call() -> None:
        for batch in batches:
            model.train_step(batch, optimizer)

    return call


def random_table(size: Size) -> Table:
    """Return random examples of exactly these lengths."""
    generator = np.random.default_rng(0)
    words = [f"word{number}" for number in range(size.words)]
    actions = [f"action{number}" for number in range(size.actions)]
    pairs = (
        (
            generator.choice(words, size.source - 1).tolist(),
            generator.choice(actions, size.target - 1).tolist(),
        )
        for _ in range(EXAMPLES)
    )
    return Table.of([Examples.of(pairs)])


def main() -> None:
    """Print a line a size: milliseconds a step and seed, the ratio, the shares of the rate."""
    warn_if_busy()
    use_every_core()
    product = fastest_product()
    print(f"matrix products: {product.rate:.0f} GFLOP/s at best on this machine")
    print(f"{'ms a step and seed':>56} {'as written':>20} {'as made':>16}")
    print(
        "hidden batch seeds source target symbols  daxy   torch  ratio  GFLOP   daxy  torch"
        "  GFLOP   daxy"
    )
    for size in SIZES:
        table = random_table(size)
        steps = 8 if size.batch > 1 and size.hidden > 100 else 32
        programs = ours(size, table, steps), theirs(size, table, steps), product.multiply
        seconds = np.array(in_turns(*programs))
        mine, other = seconds[:, 0] / steps / size.seeds, seconds[:, 1] / steps
        rate = product.gflop / seconds[:, 2]
        written, made = size.gflop_as_written, size.gflop_as_made
        shape = f"{size.hidden:6} {size.batch:5} {size.seeds:5} {size.source:6} {size.target:6}"
        shape += f" {size.symbols:7}"
        times = f"{1e3 * median(mine):6.2f} {1e3 * median(other):7.2f} {median(other / mine):5.1f}x"
        shares = f"{median(written / mine / rate):6.0%} {median(written / other / rate):6.0%}"
        as_made = f"{made:6.2f} {median(made / mine / rate):6.0%}"
        print(f"{shape} {times} {written:6.2f} {shares} {as_made}", flush=True)


if __name__ == "__main__":
    main()
