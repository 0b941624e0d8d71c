"""Ctrl-C, a scheduler's SIGTERM and a terminal that closes end a run at its next safe point."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from daxy.core.errors import RunFailed


class Interrupted(RunFailed):
    """Training was asked to stop, and has saved its state."""

    exit_code = 130


ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
"""Signals that ask a process to end; not every system has all of them."""


@dataclass(slots=True)
class StopRequest:
    """Whether somebody asked training to stop."""

    received: bool = False


@contextmanager
def stop_request() -> Generator[StopRequest]:
    """Note the first signal to end while the context lasts; a second one acts as it would have.

    One that the process was told to ignore, as `nohup` tells it, stays ignored. Outside the main
    thread, where Python delivers no signals, nothing is ever noted.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    found = {number: signal.getsignal(number) for number in ENDING}
    # None is a handler that is not Python's.
    before = {number: it for number, it in found.items() if it not in (signal.SIG_IGN, None)}

    def note(number: int, frame: FrameType | None) -> None:
        del frame
        request.received = True
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, note)
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
