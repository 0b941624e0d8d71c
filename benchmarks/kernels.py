"""Every hand-written gradient against JAX's own, in a training step of the papers' networks.

A network takes the same step twice: as it is, and with one kernel replaced by plain JAX of the same
mathematics. The two programs take turns, at least 15 times each, on every core, as training does. A
ratio is the plain program's seconds over the other's; the median over pairs is given, with the
quartiles. Gains on one core and on several differ: one core gains less from a large product.

    python -m benchmarks.kernels
    python -m benchmarks.kernels --only memory_reads --pairs 31
    taskset -c 0 python -m benchmarks.kernels
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from statistics import median, quantiles
from typing import Any
from unittest.mock import patch

import jax
import jax.numpy as jnp
import numpy as np

from daxy import models
from daxy.core.vocabulary import END
from daxy.kernels import additive_attention, deferred_weight_grad
from daxy.models.api import Batch, Sizes
from daxy.models.layers.dropout import Dropout
from daxy.training import optimizers
from daxy.training.devices import compiler_options
from daxy.training.objective import cross_entropy
from daxy.training.protocols import protocol

SYMBOLS = Sizes(source_symbols=16, target_symbols=10, channels=16)
GRID = 6
SECONDS = 0.1
"""Seconds of each program in a pair, about."""


@dataclass(frozen=True)
class Step:
    """A training step of a paper's network; lengths include END."""

    paper: str
    architecture: str
    batch: int
    source: int
    target: int
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    teacher_forced: bool | None = None
    """Whether the example is, where the protocol draws that for each; None elsewhere."""


STEPS = {
    "bastings2018": Step("bastings2018", "seq2seq", 32, 10, 25, {"hidden": 256}),
    "lake2018": Step("lake2018", "stacked", 1, 10, 25, {}, teacher_forced=True),
    "lake2018, free-running": Step("lake2018", "stacked", 1, 10, 25, {}, teacher_forced=False),
    "ruis2020": Step("ruis2020", "multimodal", 200, 8, 16),
    "grefenstette2015, 64": Step("grefenstette2015", "transducer", 10, 32, 32),
    "grefenstette2015, 128": Step("grefenstette2015", "transducer", 10, 64, 64),
    "grefenstette2015, 128, deque": Step(
        "grefenstette2015", "transducer", 10, 64, 64, {"memory": "deque"}
    ),
}


def plain_scan(body: Any, weights: Any, *arguments: Any, reverse: bool = False) -> Any:
    """Run a recurrence as `lax.scan` has it."""
    constants, state, inputs = arguments
    apply = deferred_weight_grad.undeferred(weights)

    def step(state: Any, inputs: Any) -> tuple[Any, Any]:
        return body(apply, constants, state, inputs)

    return jax.lax.scan(step, state, inputs, reverse=reverse)[1]


def plain_segments(recurrence: Any, *arguments: Any, segments: int = 1) -> Any:
    """Run a recurrence that saves everything for the way back."""
    del segments
    return plain_scan(_body(recurrence), *arguments)


def deferred_segments(recurrence: Any, *arguments: Any, segments: int = 1) -> Any:
    """Run a recurrence that saves everything but the gradients of weights."""
    del segments
    return deferred_weight_grad.scan(_body(recurrence), *arguments)


def _body(recurrence: Any) -> Any:
    def body(apply: Any, constants: Any, state: Any, inputs: Any) -> tuple[Any, Any]:
        return recurrence.step(apply, constants, state, inputs, None)

    return body


def plain_scores(query: Any, keys: Any, score_vector: Any) -> Any:
    """Return the scores of `additive_attention` without a gradient of their own."""
    falls = 1 / (1 + additive_attention.exponentials(query)[:, None] * keys)
    return falls @ (-2 * score_vector)


class NoStrengths:
    """A class that no memory is of: none has precomputed reads."""


LAYER = "daxy.models.layers"
PLAIN: dict[str, tuple[Mapping[str, Any], tuple[str, ...]]] = {
    "additive_attention": (
        {f"{LAYER}.attention.additive_scores": plain_scores},
        ("bastings2018", "ruis2020"),
    ),
    "deferred_weight_grad": (
        {
            "daxy.kernels.deferred_weight_grad.scan": plain_scan,
            f"{LAYER}.recurrence.scan": plain_scan,
            "daxy.models.stacked.scan": plain_scan,
        },
        ("bastings2018", "lake2018", "ruis2020"),
    ),
    "checkpointed_scan": (
        {"daxy.kernels.checkpointed_scan.scan": plain_segments},
        ("grefenstette2015, 64", "grefenstette2015, 128"),
    ),
    "checkpointed_scan, against deferred_weight_grad": (
        {"daxy.kernels.checkpointed_scan.scan": deferred_segments},
        ("grefenstette2015, 64", "grefenstette2015, 128"),
    ),
    "memory_reads": (
        {f"{LAYER}.controller.StrengthMemory": NoStrengths},
        ("grefenstette2015, 64", "grefenstette2015, 128", "grefenstette2015, 128, deque"),
    ),
}
"""What stands in for each kernel, by the place where it does, and the steps that it is part of."""


def main() -> None:
    """Print a line for each kernel and step."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels")
    parser.add_argument("--only", default="", help="kernels whose name begins so")
    parser.add_argument("--steps", default="", help="steps whose name begins so")
    parser.add_argument("--pairs", type=int, default=15, help="turns of both programs")
    options = parser.parse_args()
    ours = cache(program)
    print(f"{'kernel':48}{'step':30}{'ms':>8}{'plain':>9}{'gain':>8}{'quartiles':>16}{'MiB':>7}")
    for kernel, (replacements, steps) in PLAIN.items():
        if not kernel.startswith(options.only):
            continue
        for name in (name for name in steps if name.startswith(options.steps)):
            own, bytes_used = ours(name)
            with plain(replacements):
                other, plain_bytes = program(name)
            line = timed(own, other, options.pairs)
            used = f"{bytes_used / 2**20:7.0f} {plain_bytes / 2**20:.0f}"
            print(f"{kernel:48}{name:30}{line}{used}", flush=True)


@contextmanager
def plain(replacements: Mapping[str, Any]) -> Generator[None]:
    """Replace a kernel by plain JAX."""
    with ExitStack() as stack:
        for place, other in replacements.items():
            stack.enter_context(patch(place, other))
        yield


def program(name: str) -> tuple[Callable[[], object], int]:
    """Return a call that takes a step, compiled now, and the bytes that it needs for itself."""
    step = STEPS[name]
    recipe, architecture = protocol(step.paper), models.get(step.architecture)
    config: Any = architecture.Config(**step.settings)
    batch, weights = random_batch(step), jnp.full((step.batch,), 1 / step.batch, jnp.float32)
    forced = None if step.teacher_forced is None else jnp.array([step.teacher_forced])

    def train(state: Any, batch: Batch, forced: Any, number: Any) -> Any:
        model, moments = state
        key = jax.random.fold_in(jax.random.key(0), number)
        dropout = Dropout(key, jnp.float32(recipe.dropout)) if recipe.dropout else None

        def loss(model: Any) -> Any:
            return cross_entropy(model, batch, weights, dropout, forced=forced)

        value, gradients = jax.value_and_grad(loss)(model)
        rate, active = jnp.float32(recipe.optimizer.learning_rate), jnp.asarray(True)
        return value, optimizers.update(
            recipe, model, moments, gradients, learning_rate=rate, active=active
        )

    model = architecture.Model(config, SYMBOLS, key=jax.random.key(0))
    state = model, optimizers.init(recipe, model)
    run = jax.jit(train).lower(state, batch, forced, jnp.int32(0))
    compiled = run.compile(compiler_options=compiler_options())
    arguments = state, batch, forced, jnp.int32(1)
    used = compiled.memory_analysis().temp_size_in_bytes
    return lambda: jax.block_until_ready(compiled(*arguments)), used


def random_batch(step: Step) -> Batch:
    """Return random pairs of exactly these lengths, with worlds."""
    draw = np.random.default_rng(0)
    source = draw.integers(2, SYMBOLS.source_symbols, (step.batch, step.source), np.int32)
    target = draw.integers(2, SYMBOLS.target_symbols, (step.batch, step.target), np.int32)
    source[:, -1] = target[:, -1] = END
    shape = (step.batch, GRID, GRID, SYMBOLS.channels)
    world = jnp.asarray(draw.integers(2, size=shape, dtype=np.int32))
    has_worlds = step.architecture == "multimodal"
    return Batch(jnp.asarray(source), jnp.asarray(target), world if has_worlds else None)


def timed(ours: Callable[[], object], theirs: Callable[[], object], pairs: int) -> str:
    """Return milliseconds of both programs, the median of their ratios, and its quartiles."""
    counts = [max(1, round(SECONDS / _seconds(run, 2))) for run in (ours, theirs)]
    rounds = [tuple(map(_seconds, (ours, theirs), counts)) for _ in range(max(pairs, 15))]
    mine, other = zip(*rounds, strict=True)
    ratios = [plain / own for own, plain in rounds]
    low, _, high = quantiles(ratios, n=4)
    medians = f"{1e3 * median(mine):8.2f}{1e3 * median(other):9.2f}{median(ratios):7.2f}x"
    return f"{medians}{low:8.2f} to {high:.2f}"


def _seconds(run: Callable[[], object], count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - began) / count


if __name__ == "__main__":
    main()
