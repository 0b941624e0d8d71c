"""Test sets and predictions as compressed columns, which the page unpacks on demand.

A column block is little-endian: first lengths (uint32), then codes of tokens in the narrowest
unsigned integer that tells all tokens apart. Blocks are deflated (zlib) and written as Base64.

| block | holds |
|---|---|
| test set | source lengths, target lengths, source codes, target codes |
| run | a byte of flags per example, then lengths and codes of the predictions with `DIFFERS` |

A prediction that equals its target takes no more than its flags. Runs on the same test set share
its block and its vocabulary of targets.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import WrongFile, visible
from daxy.core.examples import Sequences, Tokens
from daxy.core.split import Split
from daxy.formats import predictions
from daxy.report.run_groups import Group

RIGHT, DIFFERS = 1, 2
"""Flags of a prediction: right by the metric; different from the target."""


@dataclass(eq=False)
class Evaluated:
    """A test set and the predictions of every run on it."""

    task: str
    metric: str
    """Name of the metric that decides which predictions are right."""
    sources: Sequences
    targets: Sequences
    tests: dict[str, int] = field(default_factory=dict[str, int])
    """Number of examples of each of several tests, one after another, by name."""
    runs: list[tuple[int, int, NDArray[np.bool_], Sequences]] = field(
        default_factory=list[tuple[int, int, NDArray[np.bool_], Sequences]]
    )
    """Group number, seed, mask of right predictions, and predictions of each run."""

    @property
    def symbols(self) -> Tokens:
        """Vocabulary of targets and predictions."""
        sides = [self.targets, *(predicted for *_, predicted in self.runs)]
        return tuple(sorted({symbol for side in sides for symbol in side.symbols}))

    def as_json(self, blocks: list[str]) -> dict[str, Any]:
        """Return the description of the test set and its runs, and append their blocks."""
        symbols = self.symbols
        # Tokens of gSCAN have spaces in them: `turn left`.
        separator = ", " if any(" " in symbol for symbol in symbols) else " "
        blocks.append(_test_block(self, symbols))
        described: dict[str, Any] = {
            "task": self.task,
            "metric": self.metric,
            "count": len(self.sources),
            "sources": [visible(symbol) for symbol in self.sources.symbols],
            "targets": [visible(symbol) for symbol in symbols],
            "separator": separator,
            "tests": self.tests,
            "block": len(blocks) - 1,
            "runs": [],
        }
        for group, seed, right, predicted in self.runs:
            blocks.append(_run_block(self.targets, right, predicted, symbols))
            run = {"group": group, "seed": seed, "right": int(right.sum())}
            described["runs"].append({**run, "block": len(blocks) - 1})
        return described


def evaluated(groups: Sequence[Group], splits: Sequence[Split | None]) -> list[Evaluated]:
    """Return the test sets of groups, each once, with the predictions of their runs.

    Args:
        groups: Groups of runs.
        splits: Data of each group, where its test set is several tests and they are known.
    """
    known: dict[tuple[str, bytes], Evaluated] = {}
    for number, (group, split) in enumerate(zip(groups, splits, strict=True)):
        results = group.correctness
        content = b"".join((*results.sources.content, *results.targets.content))
        test = known.setdefault(
            (group.title, content),
            Evaluated(group.title, results.metric, results.sources, results.targets),
        )
        if split is not None:
            test.tests = dict(split.provenance.sizes.tests)
        for seed, folder, right in zip(group.seeds, group.folders, results.right, strict=True):
            path = folder.predictions
            predicted = predictions.stored(path)
            if len(predicted) != len(right):
                problem = f"has {len(predicted):,} predictions; expected {len(right):,}"
                raise WrongFile(path, problem)
            test.runs.append((number, seed, right, predicted))
    return list(known.values())


def _test_block(test: Evaluated, symbols: Tokens) -> str:
    sides = test.sources.lengths, test.targets.lengths
    lengths = [side.astype("<u4").tobytes() for side in sides]
    sources = _codes(test.sources, test.sources.symbols)
    return _packed(*lengths, sources, _codes(test.targets, symbols))


def _run_block(
    targets: Sequences, right: NDArray[np.bool_], predicted: Sequences, symbols: Tokens
) -> str:
    differs = ~_equal(predicted, targets, symbols)
    flags = RIGHT * right.astype(np.uint8) + DIFFERS * differs.astype(np.uint8)
    others = predicted.take(np.flatnonzero(differs))
    lengths = others.lengths.astype("<u4").tobytes()
    return _packed(flags.tobytes(), lengths, _codes(others, symbols))


def _equal(one: Sequences, other: Sequences, symbols: Tokens) -> NDArray[np.bool_]:
    """Return where sequences are equal, token for token."""
    equal = one.lengths == other.lengths
    rows = np.flatnonzero(equal)
    left, right = one.take(rows), other.take(rows)
    differs = left.codes_in(symbols) != right.codes_in(symbols)
    equal[np.repeat(rows, left.lengths)[differs]] = False
    return equal


def _codes(sequences: Sequences, symbols: Tokens) -> bytes:
    width = 1 if len(symbols) <= 1 << 8 else 2 if len(symbols) <= 1 << 16 else 4
    return sequences.codes_in(symbols).astype(f"<u{width}").tobytes()


def _packed(*columns: bytes) -> str:
    return base64.b64encode(zlib.compress(b"".join(columns), 9)).decode()
