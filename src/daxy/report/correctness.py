"""Correctness of each test example in each run."""

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
from daxy.report.analysis import Row
from daxy.report.run_data import split_of
from daxy.runs.folder import RunFolder
from daxy.scoring import Scored
from daxy.tasks import Task


@dataclass(frozen=True, eq=False)
class Correctness:
    """A test set, with the correctness of each example in runs of one learner."""

    task: str
    metric: str
    sources: Sequences
    targets: Sequences
    right: NDArray[np.bool_]
    """Correctness by the metric: shape [runs, examples]."""
    others: Mapping[str, Scores] = field(default_factory=dict[str, Scores])
    """Scores by each other metric that is a mean over examples: shape [runs, examples]."""

    @classmethod
    def of_scored(cls, scored: Scored) -> Correctness:
        """Return the correctness of scored predictions, as one run."""
        values = {n: each[None] for n, each in scored.values.items() if metrics.get(n).is_mean}
        metric = _boolean(scored.metric, is_boolean=scored.right.dtype == np.bool_)
        right = values.pop(metric).astype(np.bool_)
        sides = scored.examples.source, scored.examples.target
        return cls(scored.task, metric, *sides, right, values)

    def accuracy(self, chosen: NDArray[np.bool_]) -> Summary:
        """Return the accuracy on the chosen examples, in per cent."""
        return _mean(self.right, chosen)

    def row(self, group: str, name: str, chosen: NDArray[np.bool_]) -> Row:
        """Return a row with the scores of the chosen examples, by every metric."""
        others = {metric: _mean(scores, chosen) for metric, scores in self.others.items()}
        count, value = int(chosen.sum()), self.accuracy(chosen)
        return Row(group=group, name=name, examples=count, value=value, others=others)

    def take(self, rows: NDArray[np.int64]) -> Correctness:
        """Return the correctness of these examples."""
        return replace(
            self,
            sources=self.sources.take(rows),
            targets=self.targets.take(rows),
            right=self.right[:, rows],
            others={metric: scores[:, rows] for metric, scores in self.others.items()},
        )


def correctness(folders: Sequence[RunFolder]) -> Correctness:
    """Return the correctness of finished runs.

    Raises:
        WrongRequest: a folder holds no finished run, or the runs differ in more than their seeds.
        RunFailed: a folder is damaged.
    """
    _check_alike(folders)
    task, path = tasks.get(folders[0].config().task), folders[0].predictions
    metric = folders[0].scores()["metric"]
    table = _columns(path, ("source", "target", metric), task.metrics)
    metric = _boolean(metric, is_boolean=pa.types.is_boolean(table.schema.field(metric).type))
    names = [it for it in dict.fromkeys((metric, *task.metrics)) if metrics.get(it).is_mean]
    tables = [table, *(_columns(folder.predictions, (), names) for folder in folders[1:])]
    for folder, other in zip(folders, tables, strict=True):
        if len(other) != len(table):
            problem = f"has {len(other):,} rows; {path} has {len(table):,}"
            raise WrongFile(folder.predictions, problem)
    sources, targets = (parquet.sequences(path, table, side) for side in ("source", "target"))
    examples = Examples(sources, targets)
    scores = [
        _scores(task, folder, own, names, examples)
        for folder, own in zip(folders, tables, strict=True)
    ]
    values: dict[str, Any] = {name: np.array([own[name] for own in scores]) for name in names}
    right = values.pop(metric)
    return Correctness(task.name, metric, sources, targets, right, values)


def check_finished(folders: Sequence[RunFolder]) -> None:
    """Raise `WrongRequest` if there is no folder, or one without a finished run."""
    require(bool(folders), "no run folder is given")
    for folder in folders:
        require(folder.is_done(), folder.unfinished)


def _check_alike(folders: Sequence[RunFolder]) -> None:
    """Refuse runs that differ in more than their seeds."""
    check_finished(folders)
    first, paths = folders[0].config(), dict[int, Path]()
    for folder in folders:
        config = folder.config()
        for part in ("task", "data", "learner"):
            if getattr(config, part) != getattr(first, part):
                raise WrongRequest(f"{folder.path} is of other {part} than {folders[0].path}")
        same = f"{folder.path} is the same run as {paths.get(config.seed)}"
        require(config.seed not in paths, same)
        paths[config.seed] = folder.path


def _boolean(metric: str, *, is_boolean: bool) -> str:
    """Return the metric that decides whether an example is right: the task's own if it is boolean.

    A grade is neither right nor wrong, and a score of a whole corpus says nothing of a part.
    """
    return metric if is_boolean else "exact"


def _mean(scores: Scores, chosen: NDArray[np.bool_]) -> Summary:
    return Summary(runs=tuple((100 * scores[:, chosen].mean(axis=1)).tolist()))


def _columns(path: Path, required: Sequence[str], optional: Sequence[str]) -> pa.Table:
    """Return columns of a file; the optional ones where it has them."""
    has = parquet.columns(path)
    names = dict.fromkeys((*required, *(name for name in optional if name in has)))
    return parquet.load(path, tuple(names), alone=True)


def _scores(
    task: Task[Any], folder: RunFolder, table: pa.Table, names: Sequence[str], examples: Examples
) -> dict[str, Scores]:
    """Return the scores of a run by metric, from its file; missing ones from its predictions.

    A metric may be newer than the run.
    """
    path, has = folder.predictions, table.column_names
    scores: dict[str, Scores] = {
        name: parquet.numbers(path, table, name) for name in names if name in has
    }
    missing = [name for name in names if name not in has]
    if missing:
        outputs = predictions.stored(path)
        # Worlds are not in the file of predictions.
        test = split_of(folder).test if task.grounded else examples
        scores |= {name: task.score(name, test, outputs) for name in missing}
    return scores
