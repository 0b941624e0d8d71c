"""Trackers: programs that show the logs of runs. One a file; the folder is the registry.

To add one, write a file that exposes `TRACKER`, a subclass of `Tracker`. It may import its client:
the registry imports a tracker only for `daxy train --log NAME`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from daxy.core.errors import quote, require
from daxy.core.registry import Registry
from daxy.trackers._tracker import Setting, TrackedRun, Tracker

__all__ = ["TRACKERS", "Setting", "TrackedRun", "Tracker", "available", "get", "listed"]


def _problem(_name: str, tracker: Any) -> str:
    is_tracker = isinstance(tracker, type) and issubclass(tracker, Tracker)
    return "" if is_tracker else "its TRACKER is no subclass of Tracker"


TRACKERS: Registry[type[Tracker]] = Registry(__name__, "TRACKER", "tracker", problem=_problem)
available, get = TRACKERS.available, TRACKERS.get


def listed(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return names of trackers, each once; a text may have several between commas.

    Raises:
        WrongRequest: a name is no text.
    """
    texts: list[Any] = [names] if isinstance(names, str) else [*names]
    are_texts = all(isinstance(text, str) for text in texts)
    require(are_texts, f"log must be names of trackers, not {quote(texts)}")
    parts = (part.strip() for text in texts for part in text.split(","))
    return tuple(dict.fromkeys(parts))
