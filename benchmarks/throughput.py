r"""Samples a second on the protocol of Lake & Baroni, against plain PyTorch and by replicas.

A trial is one example, one step. Both programs train on the same examples of `scan/simple` in the
same order, with a coin for each that says whether the decoder is given the truth. With `--grow` a
table of all networks' samples a second is printed, by units and by networks that train together; it
can be kept and drawn, and what is kept can be drawn again:

    python -m benchmarks.throughput
    python -m benchmarks.throughput --grow --out benchmarks/growth.json \
        --plot docs/pictures/growth.svg
    python -m benchmarks.throughput --kept benchmarks/growth.json --plot docs/pictures/growth.svg
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import daxy
from benchmarks.side_by_side import measure, seconds_each, warn_if_busy
from daxy.core.files import write_json
from daxy.learners import Job
from daxy.learners.neural import Neural
from daxy.learners.neural.group import ReplicaGroup
from daxy.models.stacked import Config
from daxy.runs.environment import describe
from daxy.training.backend import environment
from daxy.training.devices import use_every_core
from daxy.training.loop import STEPS_PER_DISPATCH, Training
from daxy.training.protocols import protocol

STRETCHES = 30
"""Stretches of an epoch of a thousand samples that are full; a call takes the next of them."""


@dataclass(frozen=True)
class Size:
    """One network, and how many train side by side."""

    cell: Any
    layers: int
    hidden: int
    replicas: int
    attention: bool = False

    def __str__(self) -> str:
        attention = "+attn" * self.attention
        return f"{self.cell}{attention} {self.layers}x{self.hidden}"


SIZES = (
    Size("lstm", 2, 200, 1),
    Size("lstm", 2, 200, 5),
    Size("gru", 1, 50, 20),
    Size("gru", 1, 50, 20, attention=True),
    Size("srn", 1, 100, 15),
)
HIDDEN, REPLICAS = (25, 50, 100, 200, 400), (1, 2, 4, 8, 16, 32, 64)


def training_of(size: Size) -> Training:
    """Return the training of a group of networks on `scan/simple`."""
    config = Config(
        cell=size.cell, layers=size.layers, hidden=size.hidden, attention=size.attention
    )
    learner = Neural(model="stacked", config=config, training=protocol("lake2018"))
    split = daxy.load("scan/simple", validation="none")
    jobs = [
        Job(
            name=str(seed),
            learner=learner,
            seed=seed,
            workdir=Path(),
            load=lambda: split,
            score=lambda *_: 0.0,
        )
        for seed in range(size.replicas)
    ]
    return ReplicaGroup(jobs).training


def ours(training: Training) -> Callable[[], object]:
    """Return a call that trains every network for a stretch."""
    state, stretches = training.replicas.start(), itertools.cycle(training.first_steps(STRETCHES))

    def call() -> None:
        nonlocal state
        state, _ = training.replicas.run(state, next(stretches))

    return call


def theirs(size: Size, training: Training) -> Callable[[], object]:
    """Return a call that trains one network on as many of the first network's examples."""
    import torch

    from benchmarks.peers import torch_stacked as peer

    table = training.replicas.table
    config = peer.StackedConfig(
        cell=size.cell,
        layers=size.layers,
        hidden=size.hidden,
        attention=size.attention,
        source_symbols=len(table.sources),
        target_symbols=len(table.targets),
    )
    model = peer.Stacked(config)
    optimizer = peer.adam(model)
    coins = np.random.default_rng(0)
    rows = np.concatenate(
        [np.asarray(each.rows)[:, 0, 0, 0] for each in training.first_steps(STRETCHES)]
    )
    examples = itertools.cycle(
        [
            [
                torch.from_numpy(codes[row][codes[row] > 0].astype(np.int64))
                for codes in (table.source, table.target)
            ]
            for row in rows
        ]
    )

    def call() -> None:
        for source, target in itertools.islice(examples, STEPS_PER_DISPATCH):
            model.train_step(source, target, optimizer, forced=coins.random() < 0.5)

    return call


def compare() -> None:
    """Print a line a size: samples a second and network, and how many times PyTorch's."""
    print("network           networks  samples/s each: daxy   torch  all daxy over one torch")
    for size in SIZES:
        training = training_of(size)
        timing = measure(ours(training), theirs(size, training), seconds=2.0)
        each, other = STEPS_PER_DISPATCH / timing.ours, STEPS_PER_DISPATCH / timing.theirs
        ratio = timing.ratio * size.replicas
        print(f"{size!s:16} {size.replicas:9} {each:20.1f} {other:7.1f} {ratio:12.1f}x", flush=True)


def grow(cell: str, layers: int) -> dict[str, dict[str, float]]:
    """Print and return all networks' samples a second together, by units and by networks."""
    found: dict[str, dict[str, float]] = {}
    print("hidden " + "".join(f"{count:>9}" for count in REPLICAS))
    for hidden in HIDDEN:
        found[str(hidden)] = {}
        print(f"{hidden:6}", end=" ", flush=True)
        for count in REPLICAS:
            call = ours(training_of(Size(cell, layers, hidden, count)))
            rate = count * STEPS_PER_DISPATCH / seconds_each(call, seconds=2.0)
            found[str(hidden)][str(count)] = rate
            print(f"{rate:9.0f}", end="", flush=True)
        print()
    return found


def plot(kept: dict[str, Any], path: Path) -> None:
    """Draw the table."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for hidden, rates in kept["samples a second"].items():
        axes.plot([int(count) for count in rates], list(rates.values()), "o-", label=hidden)
    axes.set(xscale="log", yscale="log", xlabel="networks that train together")
    axes.set(ylabel="samples a second, all networks", title=kept["what"])
    axes.set_xticks(REPLICAS, [str(count) for count in REPLICAS])
    axes.minorticks_off()
    figure.legend(title="units", loc="outside right upper")
    with rc_context({"svg.hashsalt": "daxy"}):  # the same picture, the same bytes
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def record(cell: str, layers: int, found: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Return the table with what it was measured on."""
    place = describe([], environment())
    layered = f"{layers} layer{'s' * (layers > 1)}"
    kept = {name: place[name] for name in ("daxy", "jax", "device_kind", "cores", "started")}
    return {"what": f"{cell.upper()}, {layered}, {place['cores']} cores", **kept} | {
        "samples a second": found
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison, or the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--grow", action="store_true", help="measure the table by networks instead")
    parser.add_argument("--kept", type=Path, help="take the table from this file instead")
    parser.add_argument("--cell", default="lstm")
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--out", type=Path, help="keep the table as JSON")
    parser.add_argument("--plot", type=Path, help="draw the table")
    asked = parser.parse_args(arguments)
    if not (asked.grow or asked.kept):
        warn_if_busy()
        use_every_core()
        compare()
        return 0
    if asked.kept:
        kept = json.loads(asked.kept.read_text())
    else:
        warn_if_busy()
        use_every_core()
        kept = record(asked.cell, asked.layers, grow(asked.cell, asked.layers))
    if asked.out:
        write_json(asked.out, kept)
    if asked.plot:
        plot(kept, asked.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
