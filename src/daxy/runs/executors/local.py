"""One program after another in this process, each spread over all devices of the machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from daxy.core.errors import DaxyError
from daxy.runs import failures
from daxy.runs.monitor import Monitor
from daxy.runs.programs import Program
from daxy.runs.store import RunStore
from daxy.training.interrupt import Interrupted


def check() -> None:
    """Refuse nothing: this machine is there."""


def run(programs: Sequence[Program], store: RunStore, monitor: Monitor) -> Iterator[Program]:
    """Yield each program once it has ended, one that failed too.

    Raises:
        Interrupted: by a signal; running the same programs again goes on from there.
        RunFailed: a program failed; the others were run all the same.
    """
    failed = list[DaxyError]()
    for program in programs:
        try:
            store.complete(program.runs, monitor)
        except Interrupted:
            raise
        except DaxyError as error:
            failed.append(error)
        yield program
    failures.end(failed)
