"""Worker processes that end with this process."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from daxy.core.errors import RunFailed

Result = TypeVar("Result")


def map_in_processes(
    count: int, function: Callable[..., Result], rows: Sequence[tuple[Any, ...]]
) -> list[Result]:
    """Return `function(*row)` of each row, in order, from `count` new processes.

    The processes end at once when this raises, as by Ctrl-C, and when this process ends, even by
    SIGKILL. They are reached by plain pipes: a killed process would leave semaphores of
    `multiprocessing` queues, and a warning about them.

    Raises:
        RunFailed: a process did not start or was killed.
    """
    results: dict[int, Result] = {}
    left = iter(enumerate(rows))
    busy: dict[Connection, int] = {}
    with ExitStack() as stack:
        idle = [stack.enter_context(_worker(function)) for _ in range(min(count, len(rows)))]
        try:
            while idle or busy:
                for pipe, (number, row) in zip(idle, left, strict=False):
                    pipe.send(row)
                    busy[pipe] = number
                ready = wait([*busy]) if busy else []
                idle = [pipe for pipe in ready if isinstance(pipe, Connection)]
                for pipe in idle:
                    results[busy.pop(pipe)] = _received(pipe)
        except (EOFError, ConnectionError):
            guard = 'a script that asks for them does so under `if __name__ == "__main__":`'
            raise RunFailed(f"the workers did not start, or were killed; {guard}") from None
    return [results[number] for number in range(len(rows))]


def _received(pipe: Connection) -> Any:
    result, error = pipe.recv()
    if error is not None:
        raise error
    return result


@contextmanager
def _worker(function: Callable[..., Any]) -> Generator[Connection]:
    context = get_context("spawn")
    pipes: tuple[Any, Any] = context.Pipe()  # another type on Windows
    ours, theirs = pipes
    process: BaseProcess = context.Process(target=_serve, args=(theirs, function), daemon=True)
    with ours:
        with theirs, _blocked_ctrl_c():
            process.start()
        try:
            yield ours
        finally:
            process.terminate()
            process.join()


def _serve(pipe: Connection, function: Callable[..., Any]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            row = pipe.recv()
            try:
                answer = function(*row), None
            except Exception as error:
                answer = None, error
            pipe.send(answer)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _blocked_ctrl_c() -> Generator[None]:
    """Start processes that ignore SIGINT, which a terminal sends to all processes of a job."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # The first process that starts brings another one along, whose start unblocks SIGINT.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
