"""Programs: groups of runs that train together, and estimates of their duration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from daxy.runs.run import Run
from daxy.runs.store import RunStore

HERE = RunStore(Path("runs"))
CALIBRATED = 6
"""Number of programs that are measured for an estimate."""


@dataclass(frozen=True, eq=False)
class Program:
    """Runs that train together."""

    runs: tuple[Run, ...]
    epochs_done: int = 0
    """Epochs before it was interrupted."""
    store: RunStore = HERE
    """Folder of the runs."""

    @property
    def description(self) -> str:
        """The learner, for people."""
        return self.runs[0].learner.description

    @property
    def tasks(self) -> list[str]:
        """The tasks of the runs, each once."""
        return list(dict.fromkeys(run.task for run in self.runs))

    @cached_property
    def left(self) -> float:
        """Share of epochs that are left."""
        return 1 - self.epochs_done / (self.runs[0].learner.max_epochs or math.inf)

    @cached_property
    def samples(self) -> int:
        """Maximum number of training examples that are left, over all runs."""
        return round(self.left * sum(run.learner.samples(run.split) for run in self.runs))

    @cached_property
    def cost(self) -> float:
        """Relative cost of the work that is left."""
        return self.left * sum(run.learner.cost(self.store.job(run)) for run in self.runs)

    def measured(self) -> float:
        """Estimate the duration in seconds by running a few steps."""
        jobs = [self.store.job(run) for run in self.runs]
        return self.runs[0].learner.seconds(jobs, self.epochs_done)


def programs(
    runs: Sequence[Run], missing: Sequence[Run], store: RunStore, most: int | None = None
) -> list[Program]:
    """Return the programs that fit what is missing, those that were interrupted first.

    Which runs share a program depends on all runs that are asked for and not on which are finished:
    a request that is made again makes the same programs.

    Args:
        runs: All runs that are asked for.
        missing: Those of them that are not finished.
        store: The folder with the groups that were interrupted.
        most: Maximum number of runs of a program; None for what memory allows.
    """
    plan = store.plan(missing)
    left = {run.name for run in plan.new}
    kinds: dict[type, list[Run]] = {}
    for run in runs if left else ():
        kinds.setdefault(type(run.learner), []).append(run)
    new = [group for alike in kinds.values() for group in _groups(alike, store, most)]
    fresh = ([run for run in group if run.name in left] for group in new)
    resumed = (Program(tuple(group), store.epochs_done(group), store) for group in plan.resumed)
    return [*resumed, *(Program(tuple(group), 0, store) for group in fresh if group)]


def _groups(runs: Sequence[Run], store: RunStore, most: int | None) -> list[list[Run]]:
    """Return which runs, whose learners are of one kind, are fitted together."""
    by_name = {run.name: run for run in runs}
    groups = runs[0].learner.groups([store.job(run) for run in by_name.values()], most)
    return [[by_name[job.name] for job in group] for group in groups]


def estimates(planned: Sequence[Program], count: int = CALIBRATED) -> Iterator[tuple[int, float]]:
    """Yield programs, by their index, with the seconds that they take: first those that are tried.

    At most `count` of them are, from the lowest cost to the highest; the others are put between
    them by their cost. A program that only has to be scored takes no time to speak of.
    """
    left = [index for index, program in enumerate(planned) if program.cost]
    order = sorted(left, key=lambda index: planned[index].cost)
    picks = {round(n * (len(order) - 1) / max(count - 1, 1)) for n in range(count)}
    tried: dict[int, float] = {}
    for pick in sorted(picks) if order else []:
        index = order[pick]
        tried[index] = planned[index].measured()
        yield index, tried[index]
    rates = {planned[at].cost: seconds / planned[at].cost for at, seconds in tried.items()}
    for index, program in enumerate(planned):
        if index not in tried:
            yield index, program.cost and program.cost * _between(program.cost, rates)


def _between(cost: float, rates: Mapping[float, float]) -> float:
    """Return the seconds per unit of cost, from the nearest costs on either side."""
    below = max((each for each in rates if each <= cost), default=min(rates))
    above = min((each for each in rates if each >= cost), default=max(rates))
    if below == above:
        return rates[below]
    share = math.log(cost / below) / math.log(above / below)
    return math.exp((1 - share) * math.log(rates[below]) + share * math.log(rates[above]))
