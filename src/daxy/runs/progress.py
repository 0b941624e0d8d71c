"""Progress of training: a live bar in a terminal or a notebook, a line an epoch elsewhere."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Sequence
from html import escape
from statistics import fmean
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from daxy.core.console import Visible
from daxy.core.errors import visible
from daxy.learners import Progress as State
from daxy.learners import Record
from daxy.runs.monitor import Monitor

if TYPE_CHECKING:
    from daxy.runs.run import Run

SMOOTHING = 0.2
"""Weight of the newest measurement in the examples per second that are shown."""
LINES, NEWLINE = 6, "\n"
"""Lines that a notebook shows of what was printed."""
PAUSE = 0.2
"""Seconds between two updates of a notebook's bar, at least."""
FORMS = {"loss": ".3f", "validation": ".1%", "test": ".1%", "perplexity": ".4g", "best": ".1%"}
"""Formats of the values of a log record and of a learner's progress."""
SHOWN = 10
"""Replicas whose figures are shown one by one."""


class Display(Monitor):
    """A monitor that shows examples per second, loss, validation scores and remaining time.

    It writes on stderr: a line an epoch, and a live bar in a terminal.

    The remaining time supposes that every epoch is needed: replicas that reach a perfect validation
    score, or have converged, stop earlier.
    """

    def __init__(self) -> None:
        self._console = Visible(sys.stderr)
        self._live: Progress | None = None

    def note(self, text: str) -> None:
        """Print a note."""
        self._print(f"note: {text}")

    def begin(self, runs: Sequence[Run]) -> None:
        """Say what trains."""
        self._label = _label(runs)
        self._rate: float | None = None
        self._began = self._last = time.monotonic()
        self._first_steps: int | None = None
        starts_by = runs[0].learner.starts_by
        self._print("; ".join(filter(None, (f"training {self._label}", starts_by))))
        self._start(starts_by)

    def stepped(self, progress: State, examples: int) -> None:
        """Move the bar."""
        now = time.monotonic()
        rate = examples / max(now - self._last, 1e-9)
        # The first stretch holds the compilation: it says nothing about the speed.
        if self._first_steps is None:
            self._first_steps, self._began = progress.total, now
        else:
            old = rate if self._rate is None else self._rate
            self._rate = old + SMOOTHING * (rate - old)
        self._last = now
        said = f"epoch {progress.epoch + 1}/{progress.epochs}  {self._figures(progress)}"
        self._update(said, progress.step, progress.steps)

    def epoch_ended(self, progress: State) -> None:
        """Print the epoch's values."""
        self._last = time.monotonic()
        last = [log[-1] for log in progress.logs if log]
        said = "".join(
            f"  {name} {_several(_known(last, name), form)}"
            for name, form in FORMS.items()
            if _known(last, name)
        )
        speed = "" if self._rate is None else f"  {self._rate:,.0f} examples/s"
        ended = "".join(f"  {count} {how}" for how, count in progress.ended.items() if count)
        self._print(f"epoch {progress.epoch}/{progress.epochs}{said}{speed}{ended}")

    def end(self) -> None:
        """Take the live line away."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def scoring(self, examples: int) -> None:
        """Say what there is to wait for."""
        self._print(f"scoring: {examples:,} output{'s' * (examples != 1)}")

    def _print(self, line: str) -> None:
        self._console.print(line)

    def _start(self, said: str) -> None:
        """Show the bar where there is one."""
        if self._console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn())
            self._live = Progress(*columns, console=self._console, transient=True)
            self._bar = self._live.add_task(said, total=None)
            self._live.start()

    def _update(self, said: str, step: int, steps: int) -> None:
        """Move the bar, and show the text beside it."""
        if self._live is not None:
            self._live.update(self._bar, completed=step, total=steps, description=said)

    def _figures(self, progress: State) -> str:
        shown = [
            f"{name} {_several(values, FORMS.get(name, '.4g'))}"
            for name, values in progress.figures.items()
            if values
        ]
        speed = [] if self._rate is None else [f"{self._rate:,.0f} examples/s"]
        return "  ".join([*shown[:1], *speed, *shown[1:], self._remaining(progress)])

    def _remaining(self, progress: State) -> str:
        assert self._first_steps is not None
        done = progress.total - self._first_steps
        if not done:
            return ""
        left = (progress.epochs - progress.epoch) * progress.steps - progress.step
        seconds = (time.monotonic() - self._began) / done * left
        return f"{duration(seconds)} left at most"


class NotebookDisplay(Display):
    """A monitor that shows the last lines and a live bar in the output of a notebook's cell."""

    def __init__(self) -> None:
        super().__init__()
        self._display: Any = importlib.import_module("IPython.display")
        self._handle: Any = None
        self._lines: list[str] = []
        self._shown = 0.0

    def end(self) -> None:
        """Take the bar away."""
        self._show()

    def _print(self, line: str) -> None:
        self._lines = [*self._lines, line][-LINES:]
        self._show()

    def _start(self, said: str) -> None:
        del said
        self._show("<progress></progress>")

    def _update(self, said: str, step: int, steps: int) -> None:
        if time.monotonic() - self._shown > PAUSE:
            self._show(f'<progress value="{step}" max="{steps}"></progress> {escape(said)}')

    def _show(self, bar: str = "") -> None:
        content = f"<pre>{escape(visible(NEWLINE.join(self._lines)))}</pre>{bar}"
        shown = self._display.HTML(content)
        self._shown = time.monotonic()
        if self._handle is None:
            self._handle = self._display.display(shown, display_id=True)
        else:
            self._handle.update(shown)


def default() -> Display | Monitor:
    """Return a progress display in a terminal or a notebook, a silent monitor elsewhere."""
    if _in_notebook():
        return NotebookDisplay()
    return Display() if sys.stderr.isatty() else Monitor()


def _in_notebook() -> bool:
    """Whether this process is a notebook's."""
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python else None
    return hasattr(shell, "kernel")


def _label(runs: Sequence[Run]) -> str:
    """Return what the runs are of, in a line."""
    named = dict.fromkeys(run.task for run in runs)
    if len({(run.task, run.learner) for run in runs}) == 1:
        plural = "s" * (len(runs) > 1)
        return f"{runs[0].task}, seed{plural} {', '.join(str(run.seed) for run in runs)}"
    return f"{len(runs)} networks on {', '.join(named)}"


def _known(records: Sequence[Record], name: str) -> list[float]:
    """Return the values of a field of log records, where they have one."""
    return [record[name] for record in records if record.get(name) is not None]


def _several(values: Sequence[float], form: str) -> str:
    """Return figures of replicas, one each as long as there is room for them."""
    if len(values) <= SHOWN:
        return " ".join(format(value, form) for value in values)
    mean, least, most = fmean(values), min(values), max(values)
    return f"{mean:{form}} ({least:{form}} to {most:{form}})"


def duration(seconds: float) -> str:
    """Return a length of time as people write it: 1:02:03."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
