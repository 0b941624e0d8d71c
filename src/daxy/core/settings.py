"""Settings given by name, as a Python caller or a file does: checked against a dataclass."""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, field, fields
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from daxy.core.errors import UnknownName, WrongRequest, quote, require

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")

LARGEST = 2**31 - 1
"""The largest whole number that a setting may have."""

LATER = "later"
"""The mark of a field that `later` made."""

EXPECTED: Mapping[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "True or False"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "a text"),
    Path: ((Path,), "a path"),
    NoneType: ((NoneType,), "None"),
}
"""By the type of a field: what fits it, and how to say so."""


def made(kind: type[T], values: Mapping[str, Any], *, of: str) -> T:
    """Return a dataclass with these fields; what is left out has its default.

    Args:
        kind: The dataclass.
        values: Its fields by name.
        of: What has these settings, for the error: "model seq2seq".

    Raises:
        UnknownName: there is no such field.
        WrongRequest: a value has another type than its field.
    """
    known = [each.name for each in fields(cast("type[DataclassInstance]", kind))]
    for name in values:
        if name not in known:
            raise UnknownName(f"setting of {of}", name, known)
    hints = get_type_hints(kind)
    plain = {name: _plain(value, hints[name]) for name, value in values.items()}
    check_types(kind, plain)
    return kind(**plain)


def _plain(value: Any, hint: Any = None) -> Any:
    """Return another library's number as Python's, and a list, as JSON has it, as a tuple."""
    if isinstance(value, list) and _is_tuple(hint):
        return _tuples(cast("list[Any]", value))
    if isinstance(value, Integral) and not isinstance(value, int):
        return int(value)
    if isinstance(value, Real) and not isinstance(value, int | float):
        return float(value)
    return value


def _is_tuple(hint: Any) -> bool:
    return any(get_origin(each) is tuple for each in (hint, *get_args(hint)))


def _tuples(values: list[Any]) -> tuple[Any, ...]:
    return tuple(_tuples(each) if isinstance(each, list) else _plain(each) for each in values)


def later(default: T) -> T:
    """Return a dataclass field that earlier versions did not have.

    `default` is what they did. While a setting has it, `stated` leaves the field out, so that what
    was named by a digest of all settings keeps its name.
    """
    return field(default=default, metadata={LATER: True})


def later_mapping() -> Any:
    """Return such a field whose default is an empty mapping."""
    return field(default_factory=dict[str, Any], metadata={LATER: True})


def is_later(each: Field[Any]) -> bool:
    """Whether earlier versions did not have this field."""
    return bool(each.metadata.get(LATER))


def stated(settings: DataclassInstance) -> dict[str, Any]:
    """Return every field of a dataclass that decides anything, by name; see `later`.

    A whole number in the place of any number is stated as the same number: 0 is 0.0.
    """
    hints = get_type_hints(type(settings))
    values = {each.name: getattr(settings, each.name) for each in fields(settings)}
    return {
        each.name: float(value) if hints[each.name] is float else value
        for each in fields(settings)
        for value in [values[each.name]]
        if not (is_later(each) and value == default(each))
    }


def default(each: Field[Any]) -> Any:
    """Return what a dataclass's field has where nothing is said."""
    return each.default if each.default_factory is MISSING else each.default_factory()


def described(kind: type[DataclassInstance]) -> dict[str, str]:
    """Return what the string below each field of a dataclass says of it, in one line.

    Fields without one, and those of its bases, are left out.
    """
    (made_as,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(made_as, ast.ClassDef)
    said = dict[str, str]()
    for above, below in itertools.pairwise(made_as.body):
        match above, below:
            case (
                ast.AnnAssign(target=ast.Name(name)),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                said[name] = " ".join(words.split())
            case _:
                pass
    return said


def check_types(kind: type | Callable[..., Any], values: Mapping[str, Any]) -> None:
    """Refuse a value that is not of the type that a dataclass's field or an argument has.

    Args:
        kind: The dataclass, or the function.
        values: By the name of the field or argument.

    Raises:
        WrongRequest: says which, and what was expected.
    """
    hints = get_type_hints(kind)
    for name, value in values.items():
        if not _fits(value, hints[name]):
            flag = name.replace("_", "-")
            raise WrongRequest(f"{flag} must be {_expected(hints[name])}, not {quote(value)}")
        check_size(name.replace("_", "-"), value)


def check_size(name: str, value: Any) -> None:
    """Refuse a whole number, or one of a tuple, beyond 32 bits: no setting means anything there.

    Raises:
        WrongRequest: says the bound.
    """
    for number in value if isinstance(value, tuple) else [value]:
        if isinstance(number, int) and abs(number) > LARGEST:
            bound = f"at most {LARGEST:,}" if number > 0 else f"at least {-LARGEST:,}"
            raise WrongRequest(f"{name} must be {bound}, not {quote(number)}")


def check_positive(settings: object, *names: str) -> None:
    """Refuse numbers that are not positive, of the fields with these names.

    Raises:
        WrongRequest: there is one; says which.
    """
    for name in names:
        value = getattr(settings, name)
        require(value > 0, f"{name.replace('_', '-')} must be positive, not {value}")


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if _is_union(hint):
        return any(_fits(value, each) for each in get_args(hint))
    if get_origin(hint) is tuple and isinstance(value, tuple):
        return _all_fit(cast("tuple[Any, ...]", value), get_args(hint))
    kinds, _ = EXPECTED.get(hint, ((get_origin(hint) or hint,), ""))
    return isinstance(value, kinds) and (hint is bool or not isinstance(value, bool))


def _is_union(hint: Any) -> bool:
    return isinstance(hint, UnionType) or get_origin(hint) is Union


def _all_fit(values: tuple[Any, ...], hints: tuple[Any, ...]) -> bool:
    """Whether each entry of a tuple is what is said of it: `int, ...` for any number of them."""
    if hints[-1:] == (...,):
        return all(_fits(value, hints[0]) for value in values)
    return len(values) == len(hints) and all(map(_fits, values, hints))


def _expected(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return f"one of {', '.join(map(repr, get_args(hint)))}"
    if get_origin(hint) is tuple:
        some = [_expected(each) for each in get_args(hint) if each is not ...]
        return f"a tuple of {', '.join(some) or 'nothing'}{' each' * (... in get_args(hint))}"
    if _is_union(hint):
        return " or ".join(map(_expected, get_args(hint)))
    return EXPECTED[hint][1] if hint in EXPECTED else f"a {(get_origin(hint) or hint).__name__}"
