"""One program after another in this process, each spread over all devices of the machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from daxy.experiments.programs import Program
from daxy.experiments.runs import Watcher, Workshop


def run(programs: Sequence[Program], workshop: Workshop, watcher: Watcher) -> Iterator[Program]:
    """Yield each program once its runs are finished.

    Raises:
        Interrupted: by a signal; running the same programs again goes on from there.
        RunFailed: a run folder is damaged or cannot be written.
    """
    for program in programs:
        workshop.complete(program.runs, watcher)
        yield program
