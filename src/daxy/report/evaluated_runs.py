"""Finished runs on a test set of several tests, with their data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from daxy import tasks
from daxy.core.errors import UnknownName, WrongFile, require
from daxy.core.examples import Examples, Sequences
from daxy.core.split import Split
from daxy.report.analysis import Row
from daxy.report.correctness import Correctness, check_finished, correctness
from daxy.report.mistakes import predictions_of
from daxy.report.run_data import split_of
from daxy.runs.folder import RunFolder
from daxy.tasks._gscan_examples import Demonstrations


@dataclass(frozen=True, eq=False)
class EvaluatedRuns:
    """Some tests of a task, with the predictions of runs."""

    folders: Sequence[RunFolder]
    split: Split
    tests: tuple[str, ...]
    """Names of the selected tests."""
    rows: NDArray[np.int64]
    """Positions in the test set of the examples of these tests."""
    correctness: Correctness
    """Correctness on these tests."""

    @property
    def task(self) -> str:
        """Name of the task."""
        return self.correctness.task

    @cached_property
    def examples(self) -> Examples:
        """Examples, test by test."""
        return self.split.test.take(self.rows)

    @cached_property
    def columns(self) -> Demonstrations:
        """Examples of a task with worlds, as columns."""
        return Demonstrations.of(self.examples)

    @cached_property
    def test(self) -> NDArray[np.str_]:
        """Name of each example's test."""
        counts = self.split.provenance.sizes.tests
        return np.repeat(np.array(self.tests), [counts[name] for name in self.tests])

    @property
    def predictions(self) -> Iterator[Sequences]:
        """Predictions of each run."""
        for folder in self.folders:
            predictions = predictions_of(folder)
            if len(predictions) != (count := len(self.split.test)):
                problem = f"has {len(predictions):,} rows; the test set has {count:,} examples"
                raise WrongFile(folder.predictions, problem)
            yield predictions.take(self.rows)

    def rows_by(
        self, group: str, values: NDArray[np.str_], order: Sequence[str] = ()
    ) -> Iterator[Row]:
        """Yield a row for each value.

        Args:
            group: Name of the values.
            values: Value of each example.
            order: Order of the values; sorted if empty.
        """
        for name in order or np.unique(values).tolist():
            chosen = values == name
            if chosen.any():
                yield self.correctness.row(group, name, chosen)


def evaluated_in_worlds(
    folders: Sequence[RunFolder], tests: Sequence[str] = (), official: Path | None = None
) -> EvaluatedRuns:
    """Return runs on a task with worlds; see `evaluated`.

    Raises:
        WrongRequest: the task has no worlds.
    """
    check_finished(folders[:1])
    task = folders[0].config().task
    require(tasks.get(task).grounded, f"{task} is not about worlds")
    return evaluated(folders, tests, official)


def evaluated(
    folders: Sequence[RunFolder], tests: Sequence[str] = (), official: Path | None = None
) -> EvaluatedRuns:
    """Return runs on all tests, or on some by name.

    Raises:
        UnknownName: there is no such test.
        WrongRequest: a test has no examples; or the runs are of several tasks, of one with a single
            test, or on other data than is generated here or in the official files.
        WrongFile: an official file is missing or damaged.
        RunFailed: a folder is damaged.
    """
    on_all = correctness(folders)
    known = folders[0].scores().get("tests") or tasks.get(on_all.task).sizes.tests
    require(bool(known) or not tests, f"{on_all.task} has one test; leave out --test")
    for name in tests:  # before data is generated
        if name not in known:
            raise UnknownName("test", name, known)
    split = split_of(folders[0], official)
    counts = split.provenance.sizes.tests
    for name in tests:
        require(counts.get(name, 0) > 0, f"test {name} has no examples, as the data is chosen")
    selected = tuple(name for name in counts if counts[name] and (name in tests or not tests))
    rows = np.concatenate([np.arange(len(split.test))[split.tests[name]] for name in selected])
    return EvaluatedRuns(folders, split, selected, rows, on_all.take(rows))
