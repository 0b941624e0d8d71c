"""What runs were asked in worlds, and where they were right."""

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
from daxy.report.analyses._analysis import Row
from daxy.report.analyses._data import split_of
from daxy.report.analyses._judged import Judged, judged
from daxy.report.mistakes import predictions_of
from daxy.runs.folder import RunFolder
from daxy.tasks._gscan_examples import Demonstrations


@dataclass(frozen=True, eq=False)
class Asked:
    """Some tests of a task with worlds, and what runs made of them."""

    folders: Sequence[RunFolder]
    split: Split
    tests: tuple[str, ...]
    """Those that are looked at, by name."""
    found: Judged
    """On these tests."""

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Where in the test set the examples of these tests are."""
        return _rows(self.split, self.tests)

    @cached_property
    def examples(self) -> Examples:
        """The examples, test by test."""
        return self.split.test.take(self.rows)

    @cached_property
    def shown(self) -> Demonstrations:
        """The same as columns."""
        return Demonstrations.of(self.examples)

    @cached_property
    def test(self) -> NDArray[np.str_]:
        """The test that each example is of."""
        counts = self.split.provenance.sizes.tests
        return np.repeat(np.array(self.tests), [counts[name] for name in self.tests])

    @property
    def predictions(self) -> Iterator[Sequences]:
        """What each run said to each example."""
        for folder in self.folders:
            said = predictions_of(folder)
            if len(said) != (count := len(self.split.test)):
                problem = f"has {len(said):,} rows; the test set has {count:,} examples"
                raise WrongFile(folder.predictions, problem)
            yield said.take(self.rows)

    def by(self, group: str, values: NDArray[np.str_], order: Sequence[str] = ()) -> Iterator[Row]:
        """Yield a row for each of the values that examples have.

        Args:
            group: What the values are.
            values: Each example's.
            order: In which values are shown; unless given, as they are sorted.
        """
        for name in order or np.unique(values).tolist():
            chosen = values == name
            if chosen.any():
                yield self.found.row(group, name, chosen)


def asked_in_worlds(
    folders: Sequence[RunFolder], of: Sequence[str] = (), official: Path | None = None
) -> Asked:
    """Return what the runs of a task with worlds were asked; see `asked`.

    Raises:
        WrongRequest: the task has no worlds.
    """
    require(bool(folders), "no run folder is given")
    require(folders[0].is_done(), f"{folders[0].path}: no finished run")
    task = folders[0].config().task
    require(tasks.get(task).grounded, f"{task} is not about worlds")
    return asked(folders, of, official)


def asked(
    folders: Sequence[RunFolder], of: Sequence[str] = (), official: Path | None = None
) -> Asked:
    """Return what the runs were asked; of all tests, or of some by name.

    Raises:
        UnknownName: there is no such test.
        WrongRequest: a test has no examples; or the runs are of several tasks, of one with a single
            test, or on other data than is generated here or in the official files.
        WrongFile: an official file is missing or damaged.
        RunFailed: a folder is damaged.
    """
    found = judged(folders)
    known = tasks.get(found.task).sizes.tests
    require(bool(known) or not of, f"{found.task} has one test; leave out --test")
    for name in of:  # before anything is made
        if name not in known:
            raise UnknownName("test", name, known)
    split = split_of(folders[0], official)
    counts = split.provenance.sizes.tests
    for name in of:
        require(counts.get(name, 0) > 0, f"test {name} has no examples, as the data is chosen")
    tests = tuple(name for name in counts if counts[name] and (name in of or not of))
    return Asked(folders, split, tests, found.at(_rows(split, tests)))


def _rows(split: Split, tests: Sequence[str]) -> NDArray[np.int64]:
    every = np.arange(len(split.test))
    return np.concatenate([every[split.tests[name]] for name in tests])
