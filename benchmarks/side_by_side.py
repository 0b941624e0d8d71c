"""Measure two programs in turns, so that a noisy moment of the machine meets both."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

ROUNDS = 7


@dataclass(frozen=True)
class Timing:
    """Seconds a call of each program: the median of all rounds."""

    ours: float
    theirs: float
    ratios: tuple[float, ...]
    """Theirs over ours, of each round."""

    @property
    def ratio(self) -> float:
        """How many times faster ours is: the median over rounds."""
        return statistics.median(self.ratios)


def measure(
    ours: Callable[[], object], theirs: Callable[[], object], *, seconds: float = 1.0
) -> Timing:
    """Time both programs in alternating rounds of about `seconds` each, after one that warms up."""
    our, their = zip(*in_turns(ours, theirs, seconds=seconds), strict=True)
    ratios = tuple(there / here for here, there in zip(our, their, strict=True))
    return Timing(statistics.median(our), statistics.median(their), ratios)


def in_turns(*programs: Callable[[], object], seconds: float = 1.0) -> list[tuple[float, ...]]:
    """Time each program for about `seconds`, one after the other, in several rounds.

    Returns:
        Of each round the mean seconds of a call of each program.
    """
    counts = [max(1, round(seconds / _once(program))) for program in programs]
    return [tuple(map(_mean, programs, counts)) for _ in range(ROUNDS)]


def seconds_each(program: Callable[[], object], *, seconds: float) -> float:
    """Time one program alone for about so long, after it has warmed up: the mean of its calls."""
    return _mean(program, max(2, round(seconds / _once(program))))


def warn_if_busy() -> None:
    """Say on stderr that the machine is doing something else, if it is."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > 0.3 * cores:
        sys.stderr.write(f"warning: the load is {load:.1f} on {cores} cores: figures will be off\n")


def _once(program: Callable[[], object]) -> float:
    program()
    return _mean(program, 2)


def _mean(program: Callable[[], object], count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        program()
    return (time.perf_counter() - began) / count
