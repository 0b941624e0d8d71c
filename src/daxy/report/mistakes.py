"""Wrong answers of finished runs: examples, kinds of error and the first wrong token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daxy.core.display import Brief, counted, table
from daxy.core.examples import Sequences, Tokens
from daxy.core.sequences import Predictions
from daxy.core.tokens import first_difference
from daxy.formats.predictions import stored
from daxy.runs.folder import RunFolder

KINDS = ("too short", "too long", "one token substituted", "other")
"""Kinds of error: by length, then by the number of wrong tokens."""
RIGHT = -1
"""Kind of a right prediction."""
SHOWN, BEFORE = 12, 4
"""Tokens of a long sequence in a line, and how many of them precede the first wrong one."""
END = "end"
LISTED = 5
"""Wrong answers of each kind in a text or a notebook."""


@dataclass(frozen=True)
class Mistake:
    """One test example with the wrong predictions of all runs."""

    source: Tokens
    target: Tokens
    predictions: tuple[tuple[Tokens, int], ...]
    """Wrong predictions with the number of runs that made them, the most frequent first."""

    @property
    def runs(self) -> int:
        """Number of runs with a wrong prediction."""
        return sum(count for _, count in self.predictions)

    @property
    def as_json(self) -> dict[str, Any]:
        """The same as JSON values; positions count from 1."""
        return {
            "source": list(self.source),
            "target": list(self.target),
            "wrong_runs": self.runs,
            "predictions": [
                {"prediction": list(tokens), "runs": count, "first_wrong": self._first(tokens) + 1}
                for tokens, count in self.predictions
            ],
        }

    def lines(self, runs: int) -> Iterator[str]:
        """Yield the same as text, of so many runs in all; brackets mark the first wrong token."""
        yield f"  {' '.join(self.source)}"
        first = self._first(self.predictions[0][0])
        yield f"    target      {_around(self.target, first)}"
        for tokens, count in self.predictions:
            note = f" ({count} of {runs} runs)" if runs > 1 else ""
            yield f"    prediction  {_around(tokens, self._first(tokens), is_marked=True)}{note}"

    def _first(self, prediction: Tokens) -> int:
        # A metric may count a prediction as wrong whose tokens are all right.
        return first_difference(self.target, prediction) or 0


@dataclass(frozen=True, eq=False)
class Mistakes(Brief):
    """The wrong answers of runs on one test set."""

    sources: Sequences
    targets: Sequences
    predictions: Sequence[Sequences]
    """Of each run."""
    right: NDArray[np.bool_]
    """Shape [runs, examples]."""

    @property
    def _brief(self) -> str:
        wrong = int((~self.right).any(axis=0).sum())
        return (
            f"{wrong:,} of {len(self.sources):,} examples, {counted(len(self.predictions), 'run')}"
        )

    def _repr_html_(self) -> str:
        """Return some mistakes of each kind as an HTML table, for a notebook."""
        rows = [
            (kind, " ".join(mistake.source), " ".join(mistake.target), " ".join(prediction))
            for kind, listed in self.by_kind(LISTED).items()
            for mistake in listed
            for prediction, _ in mistake.predictions[:1]
        ]
        return table(("kind of error", "source", "target", "prediction"), rows)

    @cached_property
    def kinds(self) -> NDArray[np.int8]:
        """Position in `KINDS` of each wrong prediction, `RIGHT` elsewhere: [runs, examples]."""
        kinds = np.full(self.right.shape, RIGHT, np.int8)
        for run, predictions in enumerate(self.predictions):
            wrong = ~self.right[run]
            lengths = predictions.lengths - self.targets.lengths
            substituted = _substituted(self.targets, predictions, wrong & (lengths == 0))
            order = [lengths < 0, lengths > 0, substituted == 1]
            kind = np.select(order, [0, 1, 2], default=3)
            kinds[run, wrong] = kind[wrong]
        return kinds

    @property
    def rows(self) -> list[int]:
        """Positions of examples that some run gets wrong: by number of runs, then the shortest."""
        errors = (~self.right).sum(axis=0)
        lengths = self.sources.lengths + self.targets.lengths
        rows = np.flatnonzero(errors).tolist()
        return sorted(rows, key=lambda row: (-errors[row], lengths[row], self.sources[row]))

    def at(self, row: int) -> Mistake:
        """Return the wrong predictions for one example."""
        wrong = np.flatnonzero(~self.right[:, row]).tolist()
        counts = Counter(self.predictions[run][row] for run in wrong)
        return Mistake(self.sources[row], self.targets[row], tuple(counts.most_common()))

    def by_kind(self, count: int | None = None) -> dict[str, list[Mistake]]:
        """Return at most `count` mistakes of each kind, by an example's first wrong run."""
        by_kind: dict[str, list[Mistake]] = {}
        wrong = self.kinds != RIGHT
        for row in self.rows:
            kind = KINDS[int(self.kinds[int(wrong[:, row].argmax()), row])]
            listed = by_kind.setdefault(kind, [])
            if count is None or len(listed) < count:
                listed.append(self.at(row))
        return {kind: by_kind[kind] for kind in KINDS if kind in by_kind}


def predictions_of(folder: RunFolder) -> Predictions:
    """Return the predictions of a finished run, in the order of the test set.

    Raises:
        RunFailed: the folder is damaged.
    """
    return stored(folder.predictions)


def _substituted(
    targets: Sequences, predictions: Sequences, chosen: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return how many tokens differ in each of the chosen pairs of equal length, 0 elsewhere."""
    rows = np.flatnonzero(chosen)
    wanted, given = targets.take(rows), predictions.take(rows)
    differs = wanted.codes != given.codes_in(wanted.symbols)
    counts = np.zeros(len(targets), np.int64)
    owners = np.repeat(rows, wanted.lengths)
    np.add.at(counts, owners[differs], 1)
    return counts


def _around(tokens: Tokens, first: int, *, is_marked: bool = False) -> str:
    """Return tokens as text; of a long sequence, those around the first wrong one."""
    words = list(tokens)
    if is_marked:
        words[first : first + 1] = [f"[{words[first] if first < len(words) else END}]"]
    begin = max(0, first - BEFORE) if len(words) > SHOWN else 0
    end = begin + SHOWN
    before, after = ["..."] * (begin > 0), ["..."] * (end < len(words))
    return " ".join([*before, *words[begin:end], *after])
