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
from daxy.runs.store import Silent

if TYPE_CHECKING:
    from daxy.runs.store import Run
    from daxy.training.loop import Position

SMOOTHING = 0.2
"""Weight of the newest measurement in the examples per second that are shown."""
LINES, NEWLINE = 6, "\n"
"""Lines that a notebook shows of what was printed."""
PAUSE = 0.2
"""Seconds between two updates of a notebook's bar, at least."""
SHOWN = 10
"""Replicas whose figures are shown one by one."""


class Display:
    """A watcher that shows examples per second, loss, validation scores and remaining time.

    It writes on stderr: a line an epoch, and a live bar in a terminal.

    The remaining time supposes that every epoch is needed: replicas that reach a perfect validation
    score, or have converged, stop earlier.
    """

    def __init__(self) -> None:
        self._console = Visible(sys.stderr)
        self._live: Progress | None = None

    def begins(self, runs: Sequence[Run]) -> None:
        """Say what trains."""
        recipe = runs[0].learner.protocol
        self._epochs, self._label = recipe.max_epochs, _label(runs)
        self._by_perplexity = recipe.select == "perplexity"
        self._rate: float | None = None
        self._began = self._last = time.monotonic()
        self._first_steps: int | None = None
        self._print(f"training {self._label}; compiling")
        self._start()

    def stepped(self, position: Position, steps: int, examples: int) -> None:
        """Move the bar."""
        now = time.monotonic()
        rate = examples / max(now - self._last, 1e-9)
        # The first stretch holds the compilation: it says nothing about the speed.
        if self._first_steps is None:
            self._first_steps, self._began = position.total, now
        else:
            old = rate if self._rate is None else self._rate
            self._rate = old + SMOOTHING * (rate - old)
        self._last = now
        said = f"epoch {position.epoch + 1}/{self._epochs}  {self._figures(position, steps)}"
        self._update(said, position.step, steps)

    def epoch_ended(self, position: Position) -> None:
        """Print what the epoch came to."""
        self._last = time.monotonic()
        last = [history[-1] for history in position.history if history]
        said = f"epoch {position.epoch}/{self._epochs}  loss "
        said += _several([record.loss for record in last], ".3f")
        for name in ("validation", "test"):
            scores = [getattr(record, name) for record in last]
            if known := [score for score in scores if score is not None]:
                said += f"  {name} {_several(known, '.1%')}"
        if known := [record.perplexity for record in last if record.perplexity is not None]:
            said += f"  perplexity {_several(known, '.4g')}"
        speed = "" if self._rate is None else f"  {self._rate:,.0f} examples/s"
        diverged = sum(position.diverged)
        finished = sum(position.stopped) - diverged
        ends = {"finished": finished, "diverged": diverged}
        told = "".join(f"  {count} {end}" for end, count in ends.items() if count)
        self._print(f"{said}{speed}{told}")

    def ended(self) -> None:
        """Take the live line away."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def scoring(self, examples: int) -> None:
        """Say what there is to wait for."""
        self._print(f"scoring: {examples:,} output{'s' * (examples != 1)}")

    def _print(self, line: str) -> None:
        self._console.print(line)

    def _start(self) -> None:
        """Show the bar where there is one."""
        if self._console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn())
            self._live = Progress(*columns, console=self._console, transient=True)
            self._bar = self._live.add_task("compiling", total=None)
            self._live.start()

    def _update(self, said: str, step: int, steps: int) -> None:
        """Move the bar, and show the text beside it."""
        if self._live is not None:
            self._live.update(self._bar, completed=step, total=steps, description=said)

    def _figures(self, position: Position, steps: int) -> str:
        going = max(len(position.stopped) - sum(position.stopped), 1)
        loss = sum(position.losses) / going / max(position.step, 1)
        known = [score for score in position.best if score > 0]
        best = f"  best {_several(known, '.1%')}" if known else ""
        if known and self._by_perplexity:
            best = f"  lowest perplexity {_several([1 / each for each in known], '.4g')}"
        speed = "" if self._rate is None else f"  {self._rate:,.0f} examples/s"
        return f"loss {loss:.3f}{speed}{best}  {self._remaining(position, steps)}"

    def _remaining(self, position: Position, steps: int) -> str:
        assert self._first_steps is not None
        done = position.total - self._first_steps
        if not done:
            return ""
        left = (self._epochs - position.epoch) * steps - position.step
        seconds = (time.monotonic() - self._began) / done * left
        return f"{duration(seconds)} left at most"


class NotebookDisplay(Display):
    """A watcher that shows the last lines and a live bar in the output of a notebook's cell."""

    def __init__(self) -> None:
        super().__init__()
        self._display: Any = importlib.import_module("IPython.display")
        self._handle: Any = None
        self._lines: list[str] = []
        self._shown = 0.0

    def ended(self) -> None:
        """Take the bar away."""
        self._show()

    def _print(self, line: str) -> None:
        self._lines = [*self._lines, line][-LINES:]
        self._show()

    def _start(self) -> None:
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


def default() -> Display | Silent:
    """Return a progress display in a terminal or a notebook, a silent watcher elsewhere."""
    if _in_notebook():
        return NotebookDisplay()
    return Display() if sys.stderr.isatty() else Silent()


def _in_notebook() -> bool:
    """Whether this process is a notebook's."""
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python else None
    return hasattr(shell, "kernel")


def _label(runs: Sequence[Run]) -> str:
    """Return what the runs are of, in a line."""
    named = dict.fromkeys(run.task for run in runs)
    if len({(run.task, run.learner) for run in runs}) == 1:
        return f"{runs[0].task}, seeds {', '.join(str(run.seed) for run in runs)}"
    return f"{len(runs)} networks on {', '.join(named)}"


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
