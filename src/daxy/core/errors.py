"""Errors that say what was wrong, where, and what was expected.

Every error that a user can cause is a `DaxyError`: the command line prints it as one line without a
traceback and exits with its `exit_code` (2 for a wrong request, 1 for a failed check or run).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path


class DaxyError(Exception):
    """Base of all errors that a user's request, file or machine can cause."""

    exit_code = 2


class DaxyWarning(UserWarning):
    """Something odd that does not stop a request, such as tokens that no target has."""


class WrongRequest(DaxyError):  # noqa: N818 - reads as what happened
    """A value, option or combination that cannot be served."""


class UnknownName(WrongRequest):
    """A name that no file of a registry carries, with the nearest ones that do."""

    def __init__(
        self, kind: str, name: str, known: Iterable[str], *, listing: str | None = None
    ) -> None:
        names = sorted(known, key=_by_number)
        near = _nearest(name, names)
        if near:
            hint = f"did you mean {' or '.join(near)}?"
        elif len(names) <= 12:
            between = "; " if any("," in each for each in names) else ", "
            hint = f"known: {between.join(names) or 'none'}"
        else:
            hint = f"`{listing or f'daxy {kind}s'}` lists all {len(names)}"
        super().__init__(f"no {kind} named {name!r}; {hint}")
        self.name = name
        self.did_you_mean = near


def _by_number(name: str) -> list[tuple[bool, int, str]]:
    """Return what names are sorted by: 9 comes before 10."""
    parts = re.split(r"([0-9]+)", name)
    return [(it.isdecimal(), int(it) if it.isdecimal() else 0, it) for it in parts]


def _nearest(name: str, names: list[str]) -> list[str]:
    """Return the name that is most alike, and up to two that are nearly as much so.

    Case does not count.
    """
    plain, known = name.casefold(), {other.casefold(): other for other in names}
    if plain in known:
        return [known[plain]]

    def likeness(other: str) -> float:
        return difflib.SequenceMatcher(a=other, b=plain).ratio()

    near = difflib.get_close_matches(plain, known, n=3, cutoff=0.6)
    return [known[other] for other in near if likeness(other) > likeness(near[0]) - 0.05]


class WrongFile(DaxyError):  # noqa: N818
    """A file that cannot be read as what it was given for; `line` counts from 1."""

    def __init__(self, path: Path | str, problem: str, *, line: int | None = None) -> None:
        place = f"{path}" if line is None else f"{path}:{line}"
        super().__init__(f"{place}: {problem}")
        self.path = Path(path)
        self.line = line


class CheckFailed(DaxyError):  # noqa: N818
    """A check that ran and found disagreements."""

    exit_code = 1


class RunFailed(DaxyError):  # noqa: N818
    """A run that started and could not be brought to its end; what was complete is kept."""

    exit_code = 1


class Diverged(RunFailed):
    """Networks whose weights are no numbers any more, before any were selected."""


def require(condition: bool, message: str) -> None:
    """Raise `WrongRequest(message)` unless the condition holds."""
    if not condition:
        raise WrongRequest(message)


def shown(text: str) -> str:
    """Return a text as a message shows it: in quotes, and no more than the beginning of it."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
