"""Run one program after another in this process, each on all devices of the machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from daxy.core.errors import DaxyError
from daxy.runs import failures
from daxy.runs.monitor import Monitor
from daxy.runs.programs import Program
from daxy.runs.store import RunStore
from daxy.training.interrupt import Interrupted


def check() -> None:
    """No preconditions: always available."""


def run(programs: Sequence[Program], store: RunStore, monitor: Monitor) -> Iterator[Program]:
    """Run the programs; yield each one when it ends, also after a failure.

    Raises:
        Interrupted: by a signal; running the same programs again resumes.
        RunFailed: a program failed; the others ran.
    """
    errors = list[DaxyError]()
    for program in programs:
        try:
            store.complete(program.runs, monitor)
        except Interrupted:
            raise
        except DaxyError as error:
            errors.append(error)
        yield program
    failures.end(errors)
