"""Which runs train as one program, and how long all programs take.

Runs of one shape share a program, as many as the memory that a program may take has room for: those
that draw their examples if their data has the same words, those that pass through them if it is the
same data. What was interrupted as a group stays that group.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from daxy.runs.store import Run, Workshop, group_of, prepare, words

MEMORY = 2**29
"""Bytes that a program's networks may take, with their moments and their best weights."""
COPIES = 4
"""Of each weight: itself, two moments, and the best so far."""
REPLICAS = 64
"""Networks in a program at most: more hardly cost less each, and all of them end together."""
STEP = 30_000
"""What a step costs beside its weights, in weights; it matters only where sizes are far apart."""
CALIBRATED = 6
"""Programs that are tried out to know how long all of them take."""


@dataclass(frozen=True, eq=False)
class Program:
    """Runs that train as one program."""

    runs: tuple[Run, ...]
    epochs_done: int = 0
    """How many epochs were trained before it was interrupted."""
    test_every: int = 0
    """Epochs between two scores on the test set; 0: none."""

    @property
    def shape(self) -> str:
        """What all its networks are, for people."""
        first = self.runs[0].learner
        values = ", ".join(f"{name} {value}" for name, value in vars(first.config).items())
        return f"{first.model}: {values}{', with GECA' if first.geca else ''}"

    @property
    def tasks(self) -> list[str]:
        """What its networks are trained on, each once."""
        return list(dict.fromkeys(run.task for run in self.runs))

    @cached_property
    def samples(self) -> int:
        """Maximum number of examples that its networks are still to train on, all together."""
        left = 1 - self.epochs_done / self.runs[0].learner.protocol.max_epochs
        return round(left * sum(run.examples for run in self.runs))

    @cached_property
    def work(self) -> float:
        """What it costs, in a unit of its own."""
        first = self.runs[0]
        weights = first.learner.weights(words(first.task, first.data))
        return float(self.samples) * (STEP + weights)

    def measured(self) -> float:
        """Return about how many seconds it takes, after running a little of it."""
        prepare()
        return group_of(self.runs).seconds(epochs_done=self.epochs_done, test_every=self.test_every)


def programs(
    runs: Sequence[Run], missing: Sequence[Run], workshop: Workshop, most: int | None = None
) -> list[Program]:
    """Return the programs that train what is missing, those that were interrupted first.

    Which runs share a program depends on all that is asked for and not on what is there already: a
    request that is made again makes the same programs.

    Args:
        runs: All that is asked for.
        missing: Those of them that are not finished.
        workshop: Where interrupted groups are found.
        most: How many networks a program has at most; unless given, what memory allows.
    """
    begun, new = workshop.sorted(missing)
    left = {run.config.name for run in new}
    shapes: dict[object, list[Run]] = {}
    for run in runs:
        # Passes through splits of different sizes would meet lengths that do not fit together.
        data = words(run.task, run.data) if run.learner.protocol.samples else (run.task, run.data)
        shapes.setdefault((run.learner.shape, data), []).append(run)
    parts = (part for alike in shapes.values() for part in _parts(alike, most))
    fresh = ([run for run in part if run.config.name in left] for part in parts)
    every = workshop.test_every
    going_on = (Program(tuple(group), workshop.epochs_done(group), every) for group in begun)
    return [*going_on, *(Program(tuple(group), 0, every) for group in fresh if group)]


def estimates(planned: Sequence[Program], count: int = CALIBRATED) -> Iterator[tuple[int, float]]:
    """Yield programs, by their place, with the seconds that they take: first those that are tried.

    At most `count` of them are, from the least work to the most; the others are put between them by
    their work. One that only has to be judged takes no time to speak of.
    """
    left = [place for place, program in enumerate(planned) if program.work]
    order = sorted(left, key=lambda place: planned[place].work)
    picks = {round(n * (len(order) - 1) / max(count - 1, 1)) for n in range(count)}
    tried: dict[int, float] = {}
    for pick in sorted(picks) if order else []:
        place = order[pick]
        tried[place] = planned[place].measured()
        yield place, tried[place]
    rates = {planned[place].work: seconds / planned[place].work for place, seconds in tried.items()}
    for place, program in enumerate(planned):
        if place not in tried:
            yield place, program.work and program.work * _between(program.work, rates)


def _parts(runs: Sequence[Run], most: int | None) -> list[Sequence[Run]]:
    """Return runs of one shape in as few even parts as may be."""
    first = runs[0]
    size = 4 * COPIES * first.learner.weights(words(first.task, first.data))
    fitting = most or max(1, min(REPLICAS, MEMORY // size))
    parts = math.ceil(len(runs) / fitting)
    edges = [round(n * len(runs) / parts) for n in range(parts + 1)]
    return [runs[one:other] for one, other in pairwise(edges)]


def _between(work: float, rates: Mapping[float, float]) -> float:
    """Return the seconds a unit of work, from those at the nearest works on either side."""
    below = max((each for each in rates if each <= work), default=min(rates))
    above = min((each for each in rates if each >= work), default=max(rates))
    if below == above:
        return rates[below]
    share = math.log(work / below) / math.log(above / below)
    return math.exp((1 - share) * math.log(rates[below]) + share * math.log(rates[above]))
