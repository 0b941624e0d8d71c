"""From the words after a verb to the verb, with errors in one line."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import io
import os
import re
from collections.abc import Generator, Sequence
from dataclasses import fields

import tyro

from daxy.cli._verb import Verb
from daxy.core.errors import WrongRequest, require


def parse(verb: type[Verb], name: str, arguments: Sequence[str]) -> Verb:
    """Return the verb with its fields filled from the arguments.

    Raises:
        WrongRequest: an argument is missing, unknown, or has a wrong value.
        SystemExit: the arguments asked for help, which has been printed.
    """
    arguments = [_named(verb, word) for word in arguments]
    twice = _twice(verb, arguments)
    several = f"{twice} is given twice; expected {twice} once, with all values after it"
    require(twice is None, several)
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            return _fill(verb, name, arguments)
    except SystemExit as stop:
        if not stop.code:
            raise
        problem = _unknown_flag(flags(verb, name), arguments) or _one_line(complaint.getvalue())
        said = " ".join(filter(None, ("daxy", name, verb.after, "--help")))
        raise WrongRequest(f"{problem}; see `{said}`") from None


def _named(verb: type[Verb], word: str) -> str:
    """Return an argument with its flag, if it is one, by its own name."""
    flag, equals, value = word.partition("=")
    return verb.aliases.get(flag, flag) + equals + value


def _twice(verb: type[Verb], arguments: Sequence[str]) -> str | None:
    """Return a flag of several values that is given twice: those of the first would be lost."""
    known = {f"--{each.name}" for each in fields(verb) if str(each.type).startswith("tuple[")}
    given = [word.partition("=")[0] for word in arguments]
    return next((flag for flag in given if flag in known and given.count(flag) > 1), None)


def _fill(verb: type[Verb], name: str, arguments: Sequence[str]) -> Verb:
    return tyro.cli(
        verb,
        prog=f"daxy {name}",
        description=inspect.cleandoc(verb.__doc__ or ""),
        args=list(arguments),
    )


def flags(verb: type[Verb], name: str) -> list[str]:
    """Return the flags that the verb's help lists."""
    shown = io.StringIO()
    with _narrow(), contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
        _fill(verb, name, ["--help"])
    listed = re.findall(r"^[│ ]*((?:--?[a-z0-9.-]+(?:, )?)+)", shown.getvalue(), re.MULTILINE)
    return [flag for names in listed for flag in re.findall(r"--[a-z0-9.-]+", names)]


@contextlib.contextmanager
def _narrow() -> Generator[None]:
    """Have help in one column: in a wide terminal it stands in two."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "80"
    try:
        yield
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def _unknown_flag(known: Sequence[str], arguments: Sequence[str]) -> str | None:
    for argument in arguments:
        flag = argument.partition("=")[0].replace("_", "-")
        if flag == "--":
            return None
        if flag.startswith("--") and flag not in known:
            near = difflib.get_close_matches(flag, known, n=1)
            return f"no flag {flag!r}" + (f"; did you mean {near[0]}?" if near else "")
    return None


def _one_line(box: str) -> str:
    """Return what a box of tyro's says between its first two rules, as one clause.

    The box is drawn with lines where the terminal has them, else with hyphens and a title above.
    """
    lines = [line.strip("│╮╯ ") for line in box.splitlines()]
    rules = [row for row, line in enumerate(lines) if re.fullmatch(r"╭.*|╰?─+|-+", line)]
    start, end = [*rules, len(lines), len(lines)][:2]
    said = re.sub(r"\s+", " ", " ".join(lines[start + 1 : end])).strip()
    for pattern, clause in _CLAUSES.items():
        if match := re.fullmatch(pattern, said):
            return match.expand(clause)
    return said or "the arguments do not fit"


_CLAUSES = {
    r"Unrecognized options: (.*)": r"unexpected argument: \1",
    r"Missing from daxy \S+: ((?:--\S+ )?\S+) .*": r"missing: \1",
    r"Error parsing (\S+): invalid literal for int.*: (.*)": (
        r"wrong value for \1: \2; expected a whole number"
    ),
    r"Error parsing (\S+): could not convert string to float: (.*)": (
        r"wrong value for \1: \2; expected a number"
    ),
    r"Error parsing (\S+): (.*)": r"wrong value for \1: \2",
    r"Missing value for argument '(\S+?)'.*": r"missing: a value after \1",
    r"invalid choice '(.*)' for argument '(\S+?)'. Expected one of \((.*?),?\s*\)\s*[.;\s]*": (
        r"wrong value for \2: '\1'; expected one of \3"
    ),
}
"""What tyro says, and how daxy says it; anything else is passed on as it is."""
