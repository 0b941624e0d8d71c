"""Show examples and statistics of a task's train, validation and test set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from daxy.cli._data import OfTask, TaskName, with_data
from daxy.cli._verb import Result
from daxy.core.errors import require

if TYPE_CHECKING:
    from daxy.core.examples import Examples

BAR = 40


@dataclass(frozen=True, kw_only=True)
class Show(OfTask):
    """Show examples and statistics of a task's train, validation and test set.

    Example:
        daxy show scan/addprim_jump --count 5
    """

    task: TaskName
    """The task; `daxy tasks` lists them."""
    count: int = 3
    """How many examples of each part to show."""

    def run(self) -> Result:
        """Return the first examples of each part, and what they are like."""
        from daxy import tasks

        require(self.count >= 0, f"--count must not be negative: {self.count}")
        split = self.data.load(self.task)
        statistics = tasks.get(self.task).statistics(split)
        parts = {name: _facts(rows, self.count) for name, rows in split.named.items()}
        lines = [f"{self.task}: {split.provenance.rule}", f"source: {split.provenance.source}"]
        lines += [f"{fact}: {value:.1%}" for fact, value in statistics.items()]
        for name, facts in parts.items():
            lines += ["", *_described(name, facts)]
        data = {
            "task": self.task,
            "provenance": asdict(split.provenance),
            "statistics": statistics,
            "parts": parts,
        }
        return Result(data=data, text="\n".join(lines))


def _facts(examples: Examples, count: int) -> dict[str, Any]:
    import numpy as np

    lengths, lines = np.unique(examples.target.lengths, return_counts=True)
    shown = examples[:count]
    return {
        "lines": len(examples),
        "distinct": len(set(examples.keys)),
        "source_lengths": _range(examples.source.lengths.tolist()),
        "target_lengths": dict(zip(map(str, lengths.tolist()), lines.tolist(), strict=True)),
        "examples": [
            {"key": one.key, "source": " ".join(one.source), "target": " ".join(one.target)}
            for one in shown
        ],
    }


def _range(lengths: list[int]) -> list[int]:
    return [min(lengths), max(lengths)] if lengths else []


def _described(name: str, facts: dict[str, Any]) -> Iterator[str]:
    yield f"{name}: {facts['lines']:,} lines, {facts['distinct']:,} distinct"
    if not facts["lines"]:
        return
    for example in facts["examples"]:
        yield f"  {example['source']} -> {example['target']}"
    yield "  source lengths: {} to {} tokens; target lengths:".format(*facts["source_lengths"])
    most = max(facts["target_lengths"].values())
    for length, lines in facts["target_lengths"].items():
        yield f"  {length:>4} {lines:>6,} {'#' * -(-lines * BAR // most)}"


VERB = with_data(Show)
