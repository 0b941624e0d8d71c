"""From the words after a verb to the verb, with errors in one line."""

from __future__ import annotations

import contextlib
import inspect
import io
import itertools
import os
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import tyro

from daxy.cli._verb import Verb
from daxy.core.errors import WrongRequest, nearest, quote, require
from daxy.core.settings import check_size


def parse(verb: type[Verb], name: str, arguments: Sequence[str]) -> Verb:
    """Return the verb with its fields filled from the arguments.

    Raises:
        WrongRequest: an argument is missing, unknown, or has a wrong value.
        SystemExit: the arguments asked for help, which has been printed.
    """
    arguments = [_named(verb, word) for word in arguments]
    hints = typed_flags(verb)
    _check_switches(hints, arguments)
    _check_once(hints, arguments)
    _check_none(hints, arguments)
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            filled = _fill(verb, name, arguments)
        _check_sizes(filled)
        return filled
    except SystemExit as stop:
        if not stop.code:
            raise
        unknown = _unknown_flag(flags(verb, name), arguments, verb.brought)
        problem = unknown or _one_line(complaint.getvalue())
        said = " ".join(filter(None, ("daxy", name, verb.after, "--help")))
        raise WrongRequest(f"{problem}; see `{said}`") from None


def _named(verb: type[Verb], word: str) -> str:
    """Return an argument with its flag, if it is one, by its own name."""
    flag, equals, value = word.partition("=")
    return verb.aliases.get(flag, flag) + equals + value


def _check_switches(hints: Mapping[str, Any], arguments: Sequence[str]) -> None:
    """Refuse a switch with a value, which would be taken for something else, and on beside off."""
    on = [flag for flag, hint in hints.items() if bare(hint) is bool]
    switches = {name: flag for flag in on for name in (flag, off_twin(flag))}
    given = dict[str, str]()
    for word in _before_rest(arguments):
        flag, equals, value = word.partition("=")
        name = _dashed(flag)
        if name in switches:
            require(not equals, f"{flag} takes no value, not {quote(value)}")
            before = given.setdefault(switches[name], name)
            require(before == name, f"{before} and {name} contradict each other")


def _check_sizes(filled: Any, prefix: str = "--") -> None:
    """Refuse whole numbers that are too large for any setting."""
    for each in fields(filled):
        value = getattr(filled, each.name)
        if is_dataclass(value):
            _check_sizes(value, prefix)
        else:
            check_size(_dashed(f"{prefix}{each.name}"), value)


def off_twin(flag: str) -> str:
    """Return the flag that turns a switch off: --no-oversample, --geca.no-in-place."""
    return re.sub(r"([^.-][^.]*)$", r"no-\1", flag)


def _check_once(hints: Mapping[str, Any], arguments: Sequence[str]) -> None:
    """Refuse a flag that is given twice: what it was given first would be lost."""
    given = [_dashed(word.partition("=")[0]) for word in _before_rest(arguments)]
    for flag in given:
        hint = hints.get(flag, bool)
        adds = tyro.conf.UseAppendAction in getattr(hint, "__metadata__", ())
        lost = given.count(flag) > 1 and not adds and bare(hint) is not bool
        several = ", with all values after it" if get_origin(bare(hint)) is tuple else ""
        require(not lost, f"{flag} is given twice; expected {flag} once{several}")


def _check_none(hints: Mapping[str, Any], arguments: Sequence[str]) -> None:
    """Refuse the word None as a value where it would count as none given."""
    before = list(itertools.takewhile(lambda word: word != "--", arguments))
    for flag, word in itertools.pairwise(["", *before]):
        is_value = flag.startswith("-") and "=" not in flag
        is_value = is_value and bare(hints.get(_dashed(flag))) is not bool
        may_lack = word == "None" and any(map(_is_left_out, hints.values()))
        require(is_value or not may_lack, "nothing is named 'None'; leave it out")
    for word, after in itertools.zip_longest(before, before[1:]):
        flag, equals, value = word.partition("=")
        may_lack = NoneType in get_args(bare(hints.get(_dashed(flag))))
        given = may_lack and (value if equals else after) == "None"
        require(not given, f"wrong value for {flag}: 'None'; leave the flag out")


def _is_left_out(hint: Any) -> bool:
    """Whether a hint is of an argument without a flag that may be left out."""
    marks = getattr(hint, "__metadata__", ())
    return tyro.conf.Positional in marks and NoneType in get_args(bare(hint))


def typed_flags(kind: type[Any], prefix: str = "--") -> dict[str, Any]:
    """Return the types of a verb's fields, and of those below them, by their flags."""
    hints, found = get_type_hints(kind, include_extras=True), dict[str, Any]()
    for each in fields(kind):
        hint = hints[each.name]
        marks = getattr(hint, "__metadata__", ())
        below = bare(hint)
        if isinstance(below, type) and is_dataclass(below):
            alone = tyro.conf.OmitArgPrefixes in marks
            found |= typed_flags(below, prefix if alone else f"{prefix}{each.name}.")
        else:
            names = [mark.name for mark in marks if getattr(mark, "name", None)]
            found[_dashed(f"{prefix}{[*names, each.name][0]}")] = hint
    return found


def bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _dashed(flag: str) -> str:
    return flag.replace("_", "-")


def _before_rest(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the flags; after `--` nothing is one."""
    before = itertools.takewhile(lambda word: word != "--", arguments)
    return (word for word in before if word.startswith("--"))


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


def _unknown_flag(
    known: Sequence[str], arguments: Sequence[str], brought: Mapping[str, str]
) -> str | None:
    for argument in arguments:
        flag = argument.partition("=")[0].replace("_", "-")
        if flag == "--":
            return None
        if flag.startswith("--") and flag not in known:
            for begin, beside in brought.items():
                if flag.startswith(begin) and not any(each.startswith(begin) for each in known):
                    return f"no flag {quote(flag)} without {beside}"
            below = [each for each in known if each.endswith(f".{flag[2:]}")]
            # Compared without the hyphens, in which all flags are alike.
            alike = nearest(flag[2:], [each[2:] for each in known])
            near = below or [f"--{each}" for each in alike]
            return f"no flag {quote(flag)}" + (f"; did you mean {near[0]}?" if near else "")
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
            return _cut(match.expand(clause))
    return _cut(said) or "the arguments do not fit"


def _cut(clause: str) -> str:
    """Return a clause whose quoted value is cut, where it is long."""

    def cut(match: re.Match[str]) -> str:
        return quote(match[1])

    return re.sub(r"'([^']{200,})'", cut, clause)


_CLAUSES = {
    r"Unrecognized options: (.*)": r"unexpected argument: \1",
    r"Unrecognized options:": "unexpected argument: ''",
    r"Missing from daxy \S+: ((?:--\S+ )?\S+) .*": r"missing: \1",
    r"Error parsing (\S+): no type matching \{None\}\|INT could .*? from \['(.*?)'\]\. .*": (
        r"wrong value for \1: '\2'; expected a whole number"
    ),
    r"Error parsing (\S+): no type matching \{None\}\|FLOAT could .*? from \['(.*?)'\]\. .*": (
        r"wrong value for \1: '\2'; expected a number"
    ),
    r"Error parsing (\S+): Exceeds the limit .*": (
        r"wrong value for \1: too many digits; expected a whole number"
    ),
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
