"""Errors that say what was wrong, where, and what was expected.

Every error that a user can cause is a `DaxyError`: the command line prints it as one line without a
traceback and exits with its `exit_code` (2 for a wrong request, 1 for a failed check or run).
"""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any


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
        near = nearest(name, names)
        if near:
            hint = did_you_mean(near)
        elif len(names) <= 12 or (listing is None and " of " in kind):
            between = "; " if any("," in each for each in names) else ", "
            hint = f"known: {between.join(names) or 'none'}"
        else:
            hint = f"`{listing or f'daxy {kind}s'}` lists all {len(names)}"
        super().__init__(f"no {kind} named {quote(name)}; {hint}")
        self.name = name
        self.did_you_mean = near


def _by_number(name: str) -> list[tuple[bool, int, str]]:
    """Return what names are sorted by: 9 comes before 10."""
    parts = re.split(r"([0-9]+)", name)
    return [(it.isdecimal(), int(it) if it.isdecimal() else 0, it) for it in parts]


def did_you_mean(names: list[str]) -> str:
    """Return the question that ends a message about an unknown name."""
    return f"did you mean {' or '.join(names)}?"


def nearest(name: str, names: Sequence[str]) -> list[str]:
    """Return the most similar name, and up to two that are nearly as similar; ignore case."""
    if len(name) > MOST_COMPARED:
        return []
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
        name = str(path) if len(str(path)) <= MOST_QUOTED else quote(str(path))
        place = name if line is None else f"{name}:{line}"
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


def with_notes(message: str, error: BaseException) -> str:
    """Return the message of an error with the advice that was added to it as notes."""
    return "; ".join([message, *getattr(error, "__notes__", ())])


MOST_COMPARED = 200
"""Characters of a name up to which it is compared with those that are known."""

MOST_QUOTED = 200
"""Characters of a user's text that a message quotes at most."""

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
"""Characters that steer a terminal, reorder or hide text, or cannot be encoded."""


def visible(text: str) -> str:
    """Return a text that may go to a terminal: control characters are escaped as Python does.

    Line ends and tabs stay. Escapes of characters that JSON allows in strings are valid in JSON.
    """
    return _UNSEEN.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x20 else f"\\u{code:04x}"


def in_one_line(text: str) -> str:
    """Return a library's message as it is, or quoted where it is long or not printable."""
    return text if len(text) <= MOST_QUOTED and text.isprintable() else quote(text)


def quote(value: object, at: int | None = None, *, most: int = MOST_QUOTED) -> str:
    """Return a value as a message quotes it: on one line, escaped, and of bounded length.

    Args:
        value: A text, or any other value.
        at: The character of the text that matters; a long text is cut around it.
        most: Characters between the quotation marks at most.
    """
    if isinstance(value, str):
        return _quoted_text(value, at or 0, most)
    text = _BOUNDED.repr(value)
    if len(text) > most and not isinstance(value, _PLAIN):
        return f"a value of type {type(value).__name__}"
    text = " ".join(visible(text).split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _quoted_text(text: str, at: int, most: int) -> str:
    if len(text) <= most and len(repr(text)) <= most + 2:
        return repr(text)
    room = most - 2 * len(DOTS)
    at = min(max(at, 0), len(text))
    first, left = _reach(text, range(at - 1, -1, -1), room // 3)
    left += len(DOTS) if first == at else 0
    last, spare = _reach(text, range(at, len(text)), room - room // 3 + left)
    if at + last == len(text):  # its end is near, so that more fits before
        first, _ = _reach(text, range(at - 1, -1, -1), room // 3 + spare + len(DOTS))
    begin, end = at - first, at + last
    inner = repr(text[begin:end])
    dots = DOTS * (begin > 0), DOTS * (end < len(text))
    return f"{inner[0]}{dots[0]}{inner[1:-1]}{dots[1]}{inner[-1]}"


def _reach(text: str, places: range, room: int) -> tuple[int, int]:
    """Return how many characters fit into the room when escaped, and how much room is left."""
    count = 0
    for place in places:
        size = 2 if text[place] == "'" else len(repr(text[place])) - 2
        if size > room:
            return count, 0
        room -= size
        count += 1
    return count, room


DOTS = "..."
_PLAIN = (int, float, str, bytes, bool, list, tuple, dict, set, frozenset, type(None))


class _Bounded(reprlib.Repr):
    """A `repr` that looks at the beginning of a value alone, however large or deep it is."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 4
        self.maxstring = self.maxlong = self.maxother = 1000
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = 20

    def repr_str(self, x: str, level: int) -> str:  # noqa: ARG002
        """Return a text within a value."""
        return quote(x)

    def repr_int(self, x: int, level: int) -> str:  # noqa: ARG002
        """Return a whole number: Python refuses to write those of more than 4,300 digits."""
        return repr(x) if x.bit_length() < 1000 else f"a number of {x.bit_length():,} bits"

    def repr_dict(self, x: dict[Any, Any], level: int) -> str:
        """Return an object in its own order."""
        if level <= 0 and x:
            return "{...}"
        pairs = [
            f"{self.repr1(name, level - 1)}: {self.repr1(value, level - 1)}"
            for name, value in islice(x.items(), self.maxdict)
        ]
        return f"{{{', '.join([*pairs, *['...'] * (len(x) > self.maxdict)])}}}"

    def repr_instance(self, x: Any, level: int) -> str:  # noqa: ARG002
        """Return any other value."""
        try:
            return repr(x)
        except (ValueError, RecursionError):
            return f"a value of type {type(x).__name__}"


_BOUNDED = _Bounded()
