"""Ctrl-C and a scheduler's SIGTERM end a run at its next safe point."""

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


@dataclass(slots=True)
class StopRequest:
    """Whether somebody asked training to stop."""

    received: bool = False


@contextmanager
def stop_request() -> Generator[StopRequest]:
    """Note the first SIGINT or SIGTERM while the context lasts; a second one acts as it would have.

    Outside the main thread, where Python delivers no signals, nothing is ever noted.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

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
