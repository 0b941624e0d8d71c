"""Signals that stop training after its next checkpoint: SIGINT, SIGTERM, SIGHUP."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from daxy.core import interrupts
from daxy.core.errors import RunFailed
from daxy.core.interrupts import ENDING


class Interrupted(RunFailed):
    """A signal stopped training."""

    exit_code = interrupts.EXIT_CODE


@dataclass(slots=True)
class StopRequest:
    """Whether a signal to stop was received."""

    received: bool = False


@contextmanager
def stop_request(seconds: float = interrupts.SAVING) -> Generator[StopRequest]:
    """Record the first signal to stop; a second signal has its previous effect.

    A signal that the process ignores, as under `nohup`, stays ignored. A caller's handler of a
    signal with other uses, such as SIGUSR1, stays. Outside the main thread, where Python delivers
    no signals, none is recorded.

    Args:
        seconds: Seconds that the command line waits for the block to end after a signal.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    handlers = {number: signal.getsignal(number) for number in ENDING}
    before = {
        number: handler for number, handler in handlers.items() if _is_recorded(number, handler)
    }

    def record(number: int, frame: FrameType | None) -> None:
        del frame
        request.received = True
        interrupts.note(number)
        signal.signal(number, before[signal.Signals(number)])

    with interrupts.patience(seconds):
        for number in before:
            signal.signal(number, record)
        try:
            yield request
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _is_recorded(number: signal.Signals, handler: object) -> bool:
    if handler in (signal.SIG_IGN, None):  # None is a handler that is not Python's.
        return False
    # A signal that always means to stop is recorded even if the caller has a handler.
    return number.name in interrupts.ALWAYS or interrupts.is_installed_or_default(handler)
