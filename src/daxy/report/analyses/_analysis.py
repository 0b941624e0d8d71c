"""What an analysis is: from the folders of runs to a table and a picture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import WrongRequest, require
from daxy.core.examples import Tokens
from daxy.experiments.run_folder import RunFolder
from daxy.formats import parquet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CROWDED = 60
"""Letters below a panel for which there is no room side by side."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A figure over several runs."""

    runs: tuple[float, ...]
    """One a run, in the order of the folders."""

    @property
    def mean(self) -> float:
        """The mean over runs."""
        return fmean(self.runs)

    @property
    def sem(self) -> float | None:
        """The standard error of the mean, as the paper's bars show it; None of a single run."""
        return stdev(self.runs) / sqrt(len(self.runs)) if len(self.runs) > 1 else None


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the findings: some examples, and how well they were done, for one."""

    group: str
    """What is shown of it: `by actions`, for one."""
    name: str
    value: Summary
    examples: int | None = None
    """How many it is of."""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What an analysis found."""

    title: str
    rows: tuple[Row, ...]
    measure: str = "right (%)"
    """What the values are."""
    top: float = 102
    """Where the picture's scale ends."""

    def draw(self) -> Figure:
        """Return a picture: a panel a group, a bar a row, with its standard error."""
        from matplotlib.figure import Figure

        groups = list(dict.fromkeys(row.group for row in self.rows))
        figure = Figure(figsize=(5 * len(groups), 4), layout="constrained")
        for axes, group in zip(np.atleast_1d(figure.subplots(1, len(groups))), groups, strict=True):
            rows = [row for row in self.rows if row.group == group]
            means, errors = (
                [getattr(row.value, it) or 0 for row in rows] for it in ("mean", "sem")
            )
            axes.bar([row.name for row in rows], means, yerr=errors, color="tab:blue", alpha=0.8)
            axes.set(xlabel=group, ylabel=self.measure, ylim=(0, self.top))
            crowded = sum(len(row.name) + 2 for row in rows) > CROWDED
            axes.tick_params(axis="x", rotation=90 if crowded else 0)
        figure.suptitle(self.title)
        return figure


@dataclass(frozen=True, eq=False)
class Judged:
    """The test set of runs of one learner on one task, and where each was right."""

    task: str
    metric: str
    sources: tuple[Tokens, ...]
    targets: tuple[Tokens, ...]
    right: NDArray[np.bool_]
    """Shape [runs, examples]."""

    def over(self, chosen: NDArray[np.bool_]) -> Summary:
        """Return the share that is right among the chosen examples, in per cent."""
        return Summary(runs=tuple((100 * self.right[:, chosen].mean(axis=1)).tolist()))


def judged(folders: Sequence[RunFolder]) -> Judged:
    """Return what the runs were right about.

    Raises:
        WrongRequest: a folder holds no finished run, or the runs differ in more than their seeds.
        RunFailed: a folder is damaged.
    """
    require(bool(folders), "no run folder is given")
    for folder in folders:
        require(folder.is_done(), f"{folder.path}: there is no finished run here")
    first, *others = [folder.config() for folder in folders]
    for folder, other in zip(folders[1:], others, strict=True):
        if (other.task, other.data, other.learner) != (first.task, first.data, first.learner):
            raise WrongRequest(
                f"{folder.path} is of another learner or task than {folders[0].path}"
            )
    metric = folders[0].scores()["metric"]
    tables = [parquet.load(each.predictions, ("source", "target", metric)) for each in folders]
    sources, targets = (tuple(map(tuple, tables[0][it].to_pylist())) for it in ("source", "target"))
    right = np.array([table[metric].to_pylist() for table in tables]) > 0
    return Judged(first.task, metric, sources, targets, right)


class Analysis(ABC):
    """One way to look at finished runs."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """In a line."""

    @abstractmethod
    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return the findings on runs that differ in their seeds alone.

        Args:
            folders: Of finished runs.
            of: Sources to look at, where the analysis looks at some; its own choice if none.

        Raises:
            WrongRequest: the runs cannot be looked at like that.
            RunFailed: a folder is damaged.
        """

    def refuse(self, of: Sequence[str]) -> None:
        """Refuse sources to look at, where all of the test set is looked at."""
        require(not of, f"{self.name} looks at the whole test set, not at {', '.join(of)}")
