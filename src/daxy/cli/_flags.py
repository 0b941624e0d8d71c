"""Flags and arguments of a verb, from the fields of its dataclass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import Field, dataclass, fields, is_dataclass
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import tyro

from daxy.core.settings import is_required

Trackers = tyro.conf.UseAppendAction[Annotated[tuple[str, ...], tyro.conf.arg(metavar="TRACKER")]]
"""Names of trackers; repeat the flag, or part them by commas."""

NUMBERS = ((int, "a whole number"), (float, "a number"))


@dataclass(frozen=True)
class Alias:
    """Another name of a flag, as an annotation of its type."""

    alias: str


class Argument:
    """A flag, or an argument without a flag, of a verb.

    Args:
        field: The field of the verb's dataclass, or of a dataclass among its fields.
        kind: Type of the field, without annotations.
        marks: Annotations of the type: tyro's markers.
        prefix: Start of the flag, as `--` or `--geca.`.
    """

    def __init__(self, field: Field[Any], kind: Any, marks: list[Any], prefix: str) -> None:
        self.kind = kind
        self.is_required = is_required(field)
        self.is_positional = tyro.conf.Positional in marks
        self.is_switch = kind is bool
        self.is_repeatable = tyro.conf.UseAppendAction in marks
        self.is_variadic = get_origin(kind) is tuple and not self.is_repeatable
        self.is_optional = NoneType in get_args(kind)
        self.is_whole = int in (kind, *get_args(kind))
        self.choices = _literals(kind)
        name, metavar, alias = (_named(marks, it) for it in ("name", "metavar", "alias"))
        self.name = dashed(f"{prefix}{name or field.name}")
        if self.is_positional:
            self.name = metavar or field.name.upper()
        self.names = [self.name, *filter(None, [alias])]
        if self.is_switch and tyro.conf.FlagCreatePairsOff not in marks:
            self.names.append(re.sub(r"([^.-][^.]*)$", r"no-\1", self.name))

    def expected(self, word: str) -> str:
        """Return what a value has to be; nothing if the word is one."""
        if self.choices:
            return "" if word in self.choices else f"one of {', '.join(map(repr, self.choices))}"
        for number, description in NUMBERS:
            if number in (self.kind, *get_args(self.kind)):
                try:
                    number(word)
                except ValueError:
                    return description
        return ""


def arguments(kind: type[Any], prefix: str = "--") -> Iterator[Argument]:
    """Yield the arguments of a verb's fields, and of the dataclasses among them."""
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        hint = hints[field.name]
        type_, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if isinstance(type_, type) and is_dataclass(type_):
            is_flat = tyro.conf.OmitArgPrefixes in marks
            yield from arguments(type_, prefix if is_flat else f"{prefix}{field.name}.")
        else:
            yield Argument(field, type_, marks, prefix)


def dashed(flag: str) -> str:
    """Return a flag with hyphens; users may write underscores."""
    return flag.replace("_", "-")


def flag(name: str, value: Any) -> str:
    """Return the flag, with its value, of a setting or of a choice of a task's data."""
    name = "split-seed" if name == "seed" else name.replace("_", "-")
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    text = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f"--{name} {text}".rstrip()


def _named(marks: list[Any], attribute: str) -> Any:
    return next((getattr(it, attribute) for it in marks if getattr(it, attribute, None)), None)


def _literals(kind: Any) -> list[str]:
    """Return the choices of a type, and of the types that it is made of."""
    if get_origin(kind) is Literal:
        return [str(choice) for choice in get_args(kind)]
    return [choice for part in get_args(kind) for choice in _literals(part)]
