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
from daxy.report.inside import Look
from daxy.report.page._groups import Group
from daxy.runs.saved import load
from daxy.worlds import drawing
from daxy.worlds.columns import worlds_of
from daxy.worlds.grid import ACTIONS

LARGEST = 20_000
"""Maximum number of cells of a map; longer examples are left out."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """Some test examples with the answers of a group's first run."""

    group: Group
    rows: NDArray[np.int64]
    """Places in the test set."""
    sources: Sequences
    targets: Sequences
    predictions: Sequences
    right: NDArray[np.bool_]
    tests: Sequence[str]
    """Name of each example's test, where the test set is several; else empty."""

    def as_json(self, at: int) -> dict[str, Any]:
        """Return one of the examples as JSON values."""
        sides = {
            "source": self.sources[at],
            "target": self.targets[at],
            "prediction": self.predictions[at],
        }
        shown = {name: list(map(visible, tokens)) for name, tokens in sides.items()}
        row, is_right = int(self.rows[at]), bool(self.right[at])
        return {"row": row, "test": self.tests[at], "right": is_right, **shown}


def choose(group: Group, split: Split | None, count: int) -> Chosen:
    """Choose wrong and right answers of a group's first run, short ones first.

    Args:
        group: The runs.
        split: Their data, if the test set has several tests or worlds.
        count: Number of examples, but at least two per test if there are several.
    """
    found, path = group.judged, group.folders[0].predictions
    right = found.right[0]
    places = {"": slice(0, len(right))} if split is None else split.tests or {"": slice(None)}
    each = max(2, -(-count // len(places))) if len(places) > 1 else count
    chosen = {
        test: _rows(found.sources, found.targets, right, np.arange(len(right))[place], each)
        for test, place in places.items()
    }
    rows = np.concatenate([np.array(own, np.int64) for own in chosen.values()])
    return Chosen(
        group=group,
        rows=rows,
        sources=found.sources.take(rows),
        targets=found.targets.take(rows),
        predictions=predictions.stored(path).take(rows),
        right=right[rows],
        tests=[test for test, own in chosen.items() for _ in own],
    )


def _rows(
    sources: Sequences,
    targets: Sequences,
    right: NDArray[np.bool_],
    among: NDArray[np.int64],
    count: int,
) -> list[int]:
    """Return half wrong and half right examples, short ones of different target lengths first."""
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


def looks(chosen: Chosen, split: Split | None) -> list[dict[str, Any]]:
    """Return chosen examples with maps of attention or pictures of worlds; none if it has neither.

    Raises:
        RunFailed: the first run's folder is damaged.
    """
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
        if (maps := _maps(network, chosen.sources[at], chosen.predictions[at]))
    ]


def _maps(network: Predictor, source: Tokens, said: Tokens) -> list[dict[str, Any]]:
    """Return a map of attention, or of the reads at each end of a memory."""
    if (len(source) + len(said) + 2) ** 2 > LARGEST:
        return []
    if network.has_memory:
        look = Look.of(network.memory, source, said, network.inside(source, said))
        ends = zip(network.memory.sides, look.reads, strict=True)
        return [
            _map(f"Read from the memory {side}".strip(), look.tokens, look.tokens, weights)
            for side, weights in ends
        ]
    found = Alignment.of(source, said, network.alignment(source, said))
    return [_map("Attention", found.said, found.source, found.weights)]


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
    shades: list[list[float]] = [[] for _ in examples]
    if network is not None and network.attends:
        worlds = worlds_of(examples)
        shades = network.attended(chosen.sources, chosen.predictions, worlds).tolist()
    shown = list[dict[str, Any]]()
    for at, (example, own) in enumerate(zip(examples, shades, strict=True)):
        pictures = [_picture("The target's path", example, example.target, [])]
        attention = ", darker cells with more attention" if own else ""
        title = f"The predicted path{attention}"
        pictures.append(_picture(title, example, chosen.predictions[at], own))
        shown.append({**chosen.as_json(at), "pictures": pictures})
    return shown


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
