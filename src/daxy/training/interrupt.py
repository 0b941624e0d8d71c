"""Signals that end training at its next safe point: Ctrl-C, SIGTERM, a terminal that closes."""

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
    """Training was asked to stop, and has saved its state."""

    exit_code = interrupts.EXIT_CODE


@dataclass(slots=True)
class StopRequest:
    """Whether somebody asked training to stop."""

    received: bool = False


@contextmanager
def stop_request(seconds: float = interrupts.SAVING) -> Generator[StopRequest]:
    """Note the first signal to end while the context lasts; a second one acts as it would have.

    A signal that the process ignores, as `nohup` has it, stays ignored. A caller's own handler of a
    signal that does not always mean the end, such as SIGUSR1, stays. Outside the main thread, where
    Python delivers no signals, nothing is ever noted.

    Args:
        seconds: How long the command line waits for the block to end after a signal.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    handlers = {number: signal.getsignal(number) for number in ENDING}
    before = {number: handler for number, handler in handlers.items() if _noted(number, handler)}

    def note(number: int, frame: FrameType | None) -> None:
        del frame
        request.received = True
        interrupts.note(number)
        signal.signal(number, before[signal.Signals(number)])

    with interrupts.patience(seconds):
        for number in before:
            signal.signal(number, note)
        try:
            yield request
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _noted(number: signal.Signals, handler: object) -> bool:
    if handler in (signal.SIG_IGN, None):  # None is a handler that is not Python's.
        return False
    # Those that always mean the end are noted even where the caller has a handler of its own.
    return number.name in interrupts.ALWAYS or interrupts.is_installed_or_default(handler)
