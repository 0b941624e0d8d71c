"""The test set of runs, and where each was right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from daxy import metrics, tasks
from daxy.core.errors import WrongFile, WrongRequest, require
from daxy.core.examples import Examples, Sequences
from daxy.core.summary import Summary
from daxy.formats import parquet, predictions
from daxy.metrics import Scores
from daxy.report.analyses._analysis import Row
from daxy.runs.folder import RunFolder
from daxy.scoring import Scored
from daxy.tasks import Task


@dataclass(frozen=True, eq=False)
class Judged:
    """The test set of runs of one learner on one task, and where each was right."""

    task: str
    metric: str
    sources: Sequences
    targets: Sequences
    right: NDArray[np.bool_]
    """By the metric: shape [runs, examples]."""
    others: Mapping[str, Scores] = field(default_factory=dict[str, Scores])
    """How right they were by each other metric that judges each example by itself."""

    @classmethod
    def of(cls, scored: Scored) -> Judged:
        """Return predictions of a whole test set as those of one run."""
        values = {n: each[None] for n, each in scored.values.items() if metrics.get(n).is_mean}
        metric = _plain(scored.metric, is_plain=scored.right.dtype == np.bool_)
        right = values.pop(metric).astype(np.bool_)
        sides = scored.examples.source, scored.examples.target
        return cls(scored.task, metric, *sides, right, values)

    def over(self, chosen: NDArray[np.bool_]) -> Summary:
        """Return the share that is right among the chosen examples, in per cent."""
        return _share(self.right, chosen)

    def row(self, group: str, name: str, chosen: NDArray[np.bool_]) -> Row:
        """Return how well the chosen examples were done, by every metric."""
        others = {metric: _share(right, chosen) for metric, right in self.others.items()}
        count, value = int(chosen.sum()), self.over(chosen)
        return Row(group=group, name=name, examples=count, value=value, others=others)

    def at(self, rows: NDArray[np.int64]) -> Judged:
        """Return the same of these examples alone."""
        sources, targets = self.sources.take(rows), self.targets.take(rows)
        others = {metric: right[:, rows] for metric, right in self.others.items()}
        right = self.right[:, rows]
        return replace(self, sources=sources, targets=targets, right=right, others=others)


def _plain(metric: str, *, is_plain: bool) -> str:
    """Return what says whether an example is right: a task's own metric, if that does.

    A grade is neither right nor wrong, and a figure of a whole corpus says nothing of a part.
    """
    return metric if is_plain else "exact"


def _share(right: Scores, chosen: NDArray[np.bool_]) -> Summary:
    return Summary(runs=tuple((100 * right[:, chosen].mean(axis=1)).tolist()))


def judged(folders: Sequence[RunFolder]) -> Judged:
    """Return what the runs were right about.

    Raises:
        WrongRequest: a folder holds no finished run, or the runs differ in more than their seeds.
        RunFailed: a folder is damaged.
    """
    require(bool(folders), "no run folder is given")
    for folder in folders:
        require(folder.is_done(), f"{folder.path}: no finished run")
    first, known = folders[0].config(), dict[int, Path]()
    for folder in folders:
        config = folder.config()
        for what in ("task", "data", "learner"):
            if getattr(config, what) != getattr(first, what):
                raise WrongRequest(f"{folder.path} is of other {what} than {folders[0].path}")
        same = f"{folder.path} is the same run as {known.get(config.seed)}"
        require(config.seed not in known, same)
        known[config.seed] = folder.path
    task, path = tasks.get(first.task), folders[0].predictions
    metric = folders[0].scores()["metric"]
    table = _stored(path, ("source", "target", metric), task.metrics)
    metric = _plain(metric, is_plain=pa.types.is_boolean(table.schema.field(metric).type))
    plain = [it for it in dict.fromkeys((metric, *task.metrics)) if metrics.get(it).is_mean]
    tables = [table, *(_stored(folder.predictions, (), plain) for folder in folders[1:])]
    for folder, each in zip(folders, tables, strict=True):
        if len(each) != len(table):
            problem = f"has {len(each):,} rows; {path} has {len(table):,}"
            raise WrongFile(folder.predictions, problem)
    sources, targets = (parquet.sequences(path, table, it) for it in ("source", "target"))
    examples = Examples(sources, targets)
    scores = [
        _scores(task, folder, each, plain, examples)
        for folder, each in zip(folders, tables, strict=True)
    ]
    found: dict[str, Any] = {name: np.array([each[name] for each in scores]) for name in plain}
    right = found.pop(metric)
    return Judged(first.task, metric, sources, targets, right, found)


def _stored(path: Path, wanted: Sequence[str], others: Sequence[str]) -> pa.Table:
    """Return columns of a file: those that are wanted, and others where it has them."""
    has = parquet.columns(path)
    names = dict.fromkeys((*wanted, *(name for name in others if name in has)))
    return parquet.load(path, tuple(names), alone=True)


def _scores(
    task: Task[Any], folder: RunFolder, table: pa.Table, names: Sequence[str], examples: Examples
) -> dict[str, Scores]:
    """Return the scores of a run by metric: those of its file, the others of its predictions.

    A metric may be newer than the run.
    """
    path, has = folder.predictions, table.column_names
    scores: dict[str, Scores] = {
        name: parquet.numbers(path, table, name) for name in names if name in has
    }
    missing = [name for name in names if name not in has]
    if missing:
        said = predictions.stored(path)
        asked = _in_worlds(folder) if task.grounded else examples
        scores |= {name: task.score(name, asked, said) for name in missing}
    return scores


def _in_worlds(folder: RunFolder) -> Examples:
    """Return the test set of a run with its worlds, which are not in its file of predictions."""
    from daxy.report.analyses._data import split_of

    return split_of(folder).test
