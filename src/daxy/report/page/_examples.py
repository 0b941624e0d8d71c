"""Chosen examples with attention, memory reads and worlds."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import WrongRequest, visible
from daxy.core.examples import Example, Examples, Sequences, Tokens
from daxy.core.split import Split
from daxy.formats import predictions
from daxy.languages.grounded import parse
from daxy.learners.neural.predictor import Predictor
from daxy.report.alignment import Alignment
from daxy.report.correctness import Correctness
from daxy.report.memory_plot import MemoryPlot
from daxy.report.run_groups import Group
from daxy.runs.saved import load
from daxy.worlds import drawing
from daxy.worlds.columns import worlds_of
from daxy.worlds.grid import ACTIONS

MAX_CELLS = 20_000
"""Maximum number of cells of a map; longer examples are left out."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """Some test examples with the answers of a group's first run."""

    group: Group
    rows: NDArray[np.int64]
    """Places in the test set."""
    results: Correctness
    """Correctness on these examples."""
    predictions: Sequences
    tests: Sequence[str]
    """Name of each example's test, where the test set is several; else empty."""

    def as_json(self, at: int) -> dict[str, Any]:
        """Return one of the examples as JSON values."""
        return {
            "row": int(self.rows[at]),
            "test": self.tests[at],
            "right": bool(self.results.right[0, at]),
            "source": list(map(visible, self.results.sources[at])),
            "target": list(map(visible, self.results.targets[at])),
            "prediction": list(map(visible, self.predictions[at])),
        }


def choose(group: Group, split: Split | None, count: int) -> Chosen:
    """Choose wrong and right answers of a group's first run, short ones first.

    Args:
        group: The runs.
        split: Their data, if the test set has several tests or worlds.
        count: Number of examples, but at least two per test if there are several.
    """
    results = group.correctness
    slices = (None if split is None else split.tests) or {"": slice(None)}
    per_test = max(2, -(-count // len(slices))) if len(slices) > 1 else count
    positions = np.arange(len(results.sources))
    chosen = {test: _rows(results, positions[rows], per_test) for test, rows in slices.items()}
    rows = np.concatenate([np.array(own, np.int64) for own in chosen.values()])
    return Chosen(
        group=group,
        rows=rows,
        results=results.take(rows),
        predictions=predictions.stored(group.folders[0].predictions).take(rows),
        tests=[test for test, own in chosen.items() for _ in own],
    )


def _rows(results: Correctness, among: NDArray[np.int64], count: int) -> list[int]:
    """Return half wrong and half right examples, short ones of different target lengths first."""
    sources, targets, right = results.sources, results.targets, results.right[0]
    order = among[np.argsort((sources.lengths + targets.lengths)[among], kind="stable")]
    queues = list[list[int]]()
    for kind in (False, True):
        rows = order[right[order] == kind]
        # The first of each length, then the others.
        _, first = np.unique(targets.lengths[rows], return_index=True)
        head = np.sort(first)
        queues.append([*rows[head].tolist(), *np.delete(rows, head)[:count].tolist()])
    wrong, correct = queues
    few = min(len(correct), max(count // 2, count - len(wrong)))
    return [*wrong[: count - few], *correct[:few]]


def shown(chosen: Chosen, split: Split | None) -> list[dict[str, Any]]:
    """Return examples with maps of attention or pictures of worlds; none without either."""
    if not len(chosen.rows):
        return []
    predictor = load(chosen.group.folders[0].path)
    network = predictor if isinstance(predictor, Predictor) else None
    if split is not None and split.test.worlds is not None:
        return _in_worlds(chosen, network, split.test.take(chosen.rows))
    if network is None or not (network.attends or network.has_memory):
        return []
    return [
        {**chosen.as_json(at), "maps": maps}
        for at in range(len(chosen.rows))
        if (maps := _maps(network, chosen.results.sources[at], chosen.predictions[at]))
    ]


def _maps(network: Predictor, source: Tokens, output: Tokens) -> list[dict[str, Any]]:
    """Return a map of attention, or of the reads at each end of a memory."""
    if (len(source) + len(output) + 2) ** 2 > MAX_CELLS:
        return []
    if network.has_memory:
        trace = MemoryPlot.of(network.memory, source, output, network.memory_trace(source, output))
        ends = zip(network.memory.sides, trace.reads, strict=True)
        return [
            _map(f"Read from the memory {side}".strip(), trace.tokens, trace.tokens, weights)
            for side, weights in ends
        ]
    alignment = Alignment.of(source, output, network.alignment(source, output))
    return [_map("Attention", alignment.output, alignment.source, alignment.weights)]


def _map(
    title: str, down: Sequence[str], across: Sequence[str], weights: NDArray[np.float32]
) -> dict[str, Any]:
    return {
        "title": title,
        "down": list(map(visible, down)),
        "across": list(map(visible, across)),
        "weights": np.rint(100 * np.asarray(weights)).astype(int).tolist(),
    }


def _in_worlds(
    chosen: Chosen, network: Predictor | None, examples: Examples
) -> list[dict[str, Any]]:
    attention: list[list[float]] = [[] for _ in examples]
    if network is not None and network.attends:
        worlds = worlds_of(examples)
        attention = network.attention_to_cells(
            chosen.results.sources, chosen.predictions, worlds
        ).tolist()
    return [
        {
            **chosen.as_json(at),
            "pictures": [
                _picture("The target's path", example, example.target, []),
                _picture(
                    f"The predicted path{', darker cells with more attention' * bool(shades)}",
                    example,
                    chosen.predictions[at],
                    shades,
                ),
            ],
        }
        for at, (example, shades) in enumerate(zip(examples, attention, strict=True))
    ]


def _picture(
    title: str, example: Example, actions: Tokens, shades: Sequence[float]
) -> dict[str, str]:
    """Return a picture of a world with the path of actions, as an image's address and text."""
    known = [action for action in actions if action in ACTIONS]
    try:
        command = parse(example.source)
        look = drawing.demonstration_look(example.world, command, known, shades=shades)
    except WrongRequest:  # An augmentation or a file may have what is no command.
        look = drawing.Look(path=example.world.path(known), shades=shades)
    data = base64.b64encode(drawing.svg(example.world, **look).encode()).decode()
    text = f"{title} for “{' '.join(example.source)}”: {', '.join(known) or 'no action'}"
    return {"title": title, "text": visible(text), "image": f"data:image/svg+xml;base64,{data}"}
