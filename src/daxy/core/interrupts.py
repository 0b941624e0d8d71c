"""Signals that end the `daxy` command: one line on stderr, at any moment.

A signal is handled in one of three ways:

- *at once* (the default): delete half-written files, print the line, exit;
- *after saving*, inside `patience`: training notes the signal, saves its state and raises
  `Interrupted`, which the command line prints; after `SAVING` seconds the process ends anyway;
- *ignored*, where the process was started so, as by `nohup`.

Python runs signal handlers in the main thread, between two of its own instructions. While a
compiled program runs there, a thread that waits at the other end of a pipe ends the process. None
of this is active in a Python program that imports daxy: there Ctrl-C is a `KeyboardInterrupt`.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` takes longer to import than the rest of this file
    from collections.abc import Generator, Sequence
    from types import FrameType
    from typing import NoReturn

ALWAYS = ("SIGINT", "SIGTERM", "SIGHUP")
OTHERS = ("SIGQUIT", "SIGALRM", "SIGXCPU", "SIGUSR1", "SIGUSR2")
"""Signals that end a process unless it handles them; schedulers send some of them."""
ENDING = [getattr(signal, name) for name in (*ALWAYS, *OTHERS) if hasattr(signal, name)]
"""All of these that the system has."""

EXIT_CODE = 130
"""Exit code of an interruption by Ctrl-C or by an unknown signal."""
SAVING = 5.0
"""Seconds that training has to save its state and end."""
AT_ONCE = 0.3
"""Seconds that the main thread has to handle a signal before another thread does."""
AGAIN = 1.0
"""Seconds after which a second signal is no echo of the first."""

ADVICE = "run the command again: no file is left half written"
SAVED = "the same command resumes from the last saved state, if there is one"
"""Advice after an interrupted training whose state may be saved."""
RESTARTED = "leave out --restart to resume"


class _Command:
    """State of the running command for signal handlers; one per process."""

    def __init__(self) -> None:
        self.installed = self.as_json = self.restarts = self.is_handling = False
        self.number: int | None = None
        """The first signal."""
        self.since = 0.0
        self.seconds = AT_ONCE
        """Time between the first signal and the end of the process."""
        self.advice = ADVICE
        self.leftovers = set[str]()
        self.last_line = threading.Lock()
        """Held by the thread that prints the last line, and never released."""

    def note(self, number: int) -> None:
        """Remember the first signal."""
        if self.number is None:
            self.number, self.since = number, time.monotonic()

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal in the main thread."""
        del frame
        self.note(number)
        if self.is_handling:
            return  # The line of the first signal is being printed, below in this very thread.
        if self.seconds <= AT_ONCE or time.monotonic() - self.since >= AGAIN:
            self.is_handling = True
            self.end()

    def watch(self, pipe: int) -> None:
        """End the process where the main thread does not; `pipe` has the signals' numbers."""
        while True:
            left = None
            if self.number is not None:
                left = max(0.0, self.since + self.seconds - time.monotonic())
            if not select.select([pipe], [], [], left)[0]:
                # The time may have been extended meanwhile.
                if time.monotonic() >= self.since + self.seconds:
                    self.end()
                continue
            for number in os.read(pipe, 64):
                if number not in ENDING:
                    continue
                is_first = self.number is None
                self.note(number)
                if not is_first and time.monotonic() - self.since >= AGAIN:
                    self.seconds = time.monotonic() - self.since + AT_ONCE

    def end(self) -> NoReturn:
        """Delete half-written files, print the line and exit."""
        code = exit_code()
        if not self.last_line.acquire(blocking=False):
            # The line is printed; the process has not ended yet.
            time.sleep(AT_ONCE)
            os._exit(code)
        sweep_up()
        line = f"interrupted; {self.advice}{f'; {RESTARTED}' if self.restarts else ''}"
        # A progress display has its own line, and hides the cursor.
        shown = "\r\x1b[2K\x1b[?25h" if _is_terminal(2) else ""
        _write(2, f"{shown}daxy: {line}\n")
        if self.as_json:
            _write(1, f'{{"error": "{line}", "exit_code": {code}}}\n')
        os._exit(code)


_command = _Command()


def install(arguments: Sequence[str]) -> None:
    """End this process in one line when a signal comes; only for the main thread of `daxy`.

    Args:
        arguments: The words of the request: `--json` and `--restart` matter here.
    """
    _command.as_json, _command.restarts = "--json" in arguments, "--restart" in arguments
    for number in ENDING:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _command.handle)
    _command.installed = True
    if os.name == "posix":  # Elsewhere pipes cannot be waited for.
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        threading.Thread(target=_command.watch, args=(reading,), daemon=True).start()


def is_installed_or_default(handler: object) -> bool:
    """Whether a signal's handler is Python's or the command line's, not a caller's own."""
    return handler in (signal.SIG_DFL, signal.default_int_handler, _command.handle)


def note(number: int) -> None:
    """Record a signal for the command line."""
    if _command.installed:
        _command.note(number)


def exit_code() -> int:
    """Return the exit code of an interruption: 128 and the signal's number, as shells have it."""
    return EXIT_CODE if _command.number is None else 128 + _command.number


def message() -> str:
    """Return the message of an interruption, with advice."""
    return f"interrupted; {_command.advice}"


def answering() -> None:
    """Print no JSON object about a signal, since an answer is on stdout."""
    _command.as_json = False


def close() -> None:
    """Ignore signals from here on, before the last line.

    This never returns if a signal is ending the process.
    """
    if not _command.installed:
        return
    if not _command.last_line.acquire(blocking=False):
        time.sleep(SAVING)
    for number in ENDING:
        if signal.getsignal(number) is not None:
            signal.signal(number, signal.SIG_IGN)
    _command.installed = False


@contextlib.contextmanager
def patience(seconds: float = SAVING) -> Generator[None]:
    """Give the block some seconds to end by itself after a signal."""
    before = _command.seconds
    _command.seconds = max(before, seconds)
    try:
        yield
    finally:
        # A started countdown keeps its time.
        if _command.number is None:
            _command.seconds = before


@contextlib.contextmanager
def advice(text: str) -> Generator[None]:
    """Print this advice if the block is interrupted."""
    before = _command.advice
    _command.advice = text
    try:
        yield
    finally:
        if _command.number is None:
            _command.advice = before


@contextlib.contextmanager
def half_written(path: str | os.PathLike[str]) -> Generator[None]:
    """Delete this file if the command is interrupted within the block."""
    name = os.path.abspath(path)  # noqa: PTH100 - `resolve` would follow links
    _command.leftovers.add(name)
    try:
        yield
    finally:
        _command.leftovers.discard(name)


def sweep_up() -> None:
    """Delete the files that `half_written` names."""
    for name in list(_command.leftovers):
        with contextlib.suppress(OSError):
            os.unlink(name)  # noqa: PTH108


def _is_terminal(output: int) -> bool:
    try:
        return os.isatty(output)
    except OSError:
        return False


def _write(output: int, text: str) -> None:
    with contextlib.suppress(OSError):
        os.write(output, text.encode())
