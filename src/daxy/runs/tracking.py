"""Send the logs of runs to trackers. A tracker that fails stops no training."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, cast

import msgspec

from daxy import trackers
from daxy.core import json_objects
from daxy.core.errors import DaxyWarning, WrongFile
from daxy.core.files import write_json
from daxy.core.schema import check
from daxy.learners import Callbacks, Progress, Record
from daxy.runs.config import RunConfig
from daxy.runs.folder import RunFolder
from daxy.trackers import Setting, TrackedRun, Tracker

FILE = "trackers.json"
SCORES = ("test", "tests", "validation_scores", "perplexity", "best_epoch")
"""Fields of `scores.json` that trackers get, as `scores/test/exact`."""


class State(msgspec.Struct):
    """A run in a tracker, as `trackers.json` has it by the name of the tracker."""

    id: str
    finished: bool = False
    """Whether the tracker has the whole log and the scores."""


class Tracking(Callbacks):
    """Callbacks that send the logs of runs to trackers, and call other callbacks.

    A tracker that fails gets no more from this object: a dead server delays training once.
    """

    def __init__(self, names: Sequence[str], callbacks: Callbacks | None = None) -> None:
        self._names = list(names)
        self._callbacks = callbacks or Callbacks()
        self._folders: Sequence[RunFolder] = ()
        self._links: dict[tuple[str, RunFolder], _Link] = {}

    def begin(self, folders: Sequence[RunFolder]) -> None:
        """Begin or continue the runs of a group, in the order of its logs."""
        self._folders = folders
        for folder in folders:
            self._each(folder, lambda link: link.send(()))

    def stepped(self, progress: Progress, examples: int) -> None:
        """Call the other callbacks."""
        self._callbacks.stepped(progress, examples)

    def epoch_ended(self, progress: Progress) -> None:
        """Send the records of each log that are new."""
        if self._names:
            for folder, log in zip(self._folders, progress.logs, strict=True):
                if not folder.has_ended:
                    self._each(folder, lambda link, log=log: link.send(log))
        self._callbacks.epoch_ended(progress)

    def is_missing(self, folder: RunFolder) -> bool:
        """Whether a tracker lacks records or scores of a finished run."""
        try:
            return any(not _is_sent(folder, name) for name in self._names)
        except (WrongFile, ValueError):
            return True  # Sending it says what is wrong.

    def finish(self, folder: RunFolder) -> None:
        """Send what is left of a finished run's log, and its scores."""
        self._each(folder, _Link.finish)

    def close(self) -> None:
        """Leave runs that are not finished, those of a tracker that failed too.

        What a tracker lacks is not marked as sent, so that a failure here needs no warning.
        """
        for link in self._links.values():
            with suppress(Exception):
                link.close()

    def _each(self, folder: RunFolder, act: Callable[[_Link], None]) -> None:
        """Do something for a run in each tracker."""
        for name in [*self._names]:
            try:
                if (name, folder) not in self._links:
                    self._links[name, folder] = _Link(name, folder)
                act(self._links[name, folder])
            except Exception as error:  # Clients raise their own exceptions, of any class.
                self._names.remove(name)
                problem = f"{name} lacks records of {folder.path}: {type(error).__name__}: {error}"
                advice = "no result depends on it, and the same command sends them later"
                warnings.warn(f"{problem}; {advice}", DaxyWarning, stacklevel=2)


class _Link:
    """One run in one tracker."""

    def __init__(self, name: str, folder: RunFolder) -> None:
        self._name, self._folder = name, folder
        self._tracker: Tracker | None = None
        self._sent = 0
        self._is_finished = _is_sent(folder, name)

    def send(self, log: Sequence[Record]) -> None:
        """Send the records that were not sent yet; begin or continue the run at first."""
        if self._is_finished:
            return
        self._tracker = self._tracker or self._opened()
        for record in log[self._sent :]:
            self._tracker.log(record["steps"], _numbers(record))
            self._sent += 1

    def finish(self) -> None:
        """Send what is left of a finished run's log, and its scores."""
        if self._is_finished:
            return
        log, scores = self._folder.records(), self._folder.scores()
        self.send(log)
        assert self._tracker is not None
        final = {name: scores[name] for name in SCORES if scores.get(name) is not None}
        step = log[-1]["steps"] if log else 0
        self._tracker.finish(step, _numbers({"scores": final}))
        self._is_finished = True
        self._keep(State(self._tracker.id, finished=True))

    def close(self) -> None:
        """Leave a run that is not finished."""
        if self._tracker is not None and not self._is_finished:
            self._tracker.close()

    def _opened(self) -> Tracker:
        config, state = self._folder.config(), _states(self._folder).get(self._name)
        run = TrackedRun(
            name=self._folder.path.name,
            group=_group(config),
            settings=_settings(config),
            folder=self._folder.path,
            id=state.id if state else "",
        )
        tracker = trackers.get(self._name)(run)
        self._keep(State(tracker.id))
        return tracker

    def _keep(self, state: State) -> None:
        states = {**_states(self._folder), self._name: state}
        write_json(self._folder.path / FILE, msgspec.to_builtins(states))


def _states(folder: RunFolder) -> dict[str, State]:
    """Return the states of a run by the names of the trackers.

    Raises:
        WrongFile: the file cannot be read.
        ValueError: it has another content.
    """
    path = folder.path / FILE
    content = json_objects.read(path) if path.exists() else {}
    return check(content, dict[str, State], f"{FILE}: ")


def _is_sent(folder: RunFolder, name: str) -> bool:
    state = _states(folder).get(name)
    return state is not None and state.finished


def _group(config: RunConfig) -> str:
    """Return a name of the settings without the seed."""
    any_seed = replace(config, seed=0)
    return any_seed.name.replace(".seed0.", ".")


def _settings(config: RunConfig) -> dict[str, Setting]:
    values = _flat(asdict(config), ".").items()
    return {name: it if isinstance(it, Setting) else str(it) for name, it in values}


def _numbers(record: Record) -> dict[str, float]:
    """Return the numbers of a record, without the steps, by their paths."""
    values = _flat(record, "/").items()
    return {
        name: float(value)
        for name, value in values
        if isinstance(value, int | float) and name != "steps"
    }


def _flat(values: Mapping[str, Any], join: str) -> dict[str, Any]:
    """Return the values of nested mappings by their paths."""
    flat = dict[str, Any]()
    for name, value in values.items():
        if isinstance(value, Mapping):
            inner = _flat(cast("Mapping[str, Any]", value), join)
            flat |= {f"{name}{join}{path}": it for path, it in inner.items()}
        else:
            flat[name] = value
    return flat
