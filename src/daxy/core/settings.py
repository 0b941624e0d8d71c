"""Dataclasses from and to dictionaries, with checked names, types and sizes."""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, field, fields
from functools import cache
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
"""Largest integer setting."""

ADDED = "added"
"""Metadata key of the fields that `added_field` makes."""

EXPECTED: Mapping[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "True or False"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "a text"),
    Path: ((Path,), "a path"),
    NoneType: ((NoneType,), "None"),
}
"""Accepted types by field type, and their name in an error."""


def from_dict(kind: type[T], values: Mapping[str, Any], *, of: str) -> T:
    """Return a dataclass with these fields; the others have their defaults.

    Args:
        kind: The dataclass.
        values: Field values by name.
        of: Owner of the settings, for the error: "model seq2seq".

    Raises:
        UnknownName: there is no such field.
        WrongRequest: a value has the wrong type.
    """
    names = [field.name for field in fields(cast("type[DataclassInstance]", kind))]
    for name in values:
        if name not in names:
            raise UnknownName(f"setting of {of}", name, names)
    hints = _hints(kind)
    plain = {name: _plain(value, hints[name]) for name, value in values.items()}
    check_types(kind, plain)
    return kind(**plain)


def _plain(value: Any, hint: Any = None) -> Any:
    """Convert other libraries' numbers to Python's, and JSON lists to tuples."""
    if isinstance(value, list) and _is_tuple(hint):
        return _tuples(cast("list[Any]", value))
    if isinstance(value, Integral) and not isinstance(value, int):
        return int(value)
    if isinstance(value, Real) and not isinstance(value, int | float):
        return float(value)
    return value


def _is_tuple(hint: Any) -> bool:
    return any(get_origin(part) is tuple for part in (hint, *get_args(hint)))


def _tuples(values: list[Any]) -> tuple[Any, ...]:
    return tuple(_tuples(item) if isinstance(item, list) else _plain(item) for item in values)


def added_field(default: T) -> T:
    """Return a dataclass field that earlier versions did not have.

    `default` is the behavior of earlier versions. `to_dict` leaves the field out while it has this
    value, so that digests of all settings do not change.
    """
    return field(default=default, metadata={ADDED: True})


def added_mapping() -> Any:
    """Return an added field whose default is an empty mapping."""
    return field(default_factory=dict[str, Any], metadata={ADDED: True})


@cache
def _hints(kind: type | Callable[..., Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def is_added_field(field: Field[Any]) -> bool:
    """Whether earlier versions did not have this field."""
    return bool(field.metadata.get(ADDED))


def to_dict(settings: DataclassInstance) -> dict[str, Any]:
    """Return the fields of a dataclass by name, without added fields at their defaults.

    An integer in a float field becomes a float, so that 0 and 0.0 have one digest.
    """
    hints = _hints(type(settings))
    values = dict[str, Any]()
    for member in fields(settings):
        value = getattr(settings, member.name)
        if not (is_added_field(member) and value == default(member)):
            values[member.name] = float(value) if hints[member.name] is float else value
    return values


def is_required(field: Field[Any]) -> bool:
    """Whether a dataclass's field has no default."""
    return field.default is MISSING and field.default_factory is MISSING


def default(field: Field[Any]) -> Any:
    """Return the default of a dataclass's field that has one."""
    return field.default if field.default_factory is MISSING else field.default_factory()


@cache
def field_docs(kind: type[DataclassInstance]) -> Mapping[str, str]:
    """Return the docstring below each field of a dataclass, in one line.

    Fields without one are left out.
    """
    docs = dict[str, str]()
    for base in reversed(kind.__mro__):
        if "__dataclass_fields__" in vars(base):
            docs |= _own_field_docs(base)
    return docs


def _own_field_docs(kind: type[Any]) -> Mapping[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(definition, ast.ClassDef)
    docs = dict[str, str]()
    for statement, following in itertools.pairwise(definition.body):
        match statement, following:
            case (
                ast.AnnAssign(target=ast.Name(name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                docs[name] = " ".join(text.split())
            case _:
                pass
    return docs


def check_types(kind: type | Callable[..., Any], values: Mapping[str, Any]) -> None:
    """Check values against the annotations of a dataclass or a function.

    Args:
        kind: The dataclass or function.
        values: Values by the name of the field or argument.

    Raises:
        WrongRequest: a value has the wrong type.
    """
    hints = _hints(kind)
    for name, value in values.items():
        if not _fits(value, hints[name]):
            flag = name.replace("_", "-")
            raise WrongRequest(f"{flag} must be {_expected(hints[name])}, not {quote(value)}")
        check_size(name.replace("_", "-"), value)


def check_size(name: str, value: Any) -> None:
    """Check that an integer, or each integer of a tuple, fits in 32 bits.

    Raises:
        WrongRequest: it does not.
    """
    for number in value if isinstance(value, tuple) else [value]:
        if isinstance(number, int) and abs(number) > LARGEST:
            bound = f"at most {LARGEST:,}" if number > 0 else f"at least {-LARGEST:,}"
            raise WrongRequest(f"{name} must be {bound}, not {quote(number)}")


def check_positive(settings: object, *names: str) -> None:
    """Check that the fields with these names are positive.

    Raises:
        WrongRequest: one is not.
    """
    for name in names:
        value = getattr(settings, name)
        require(value > 0, f"{name.replace('_', '-')} must be positive, not {value}")


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if _is_union(hint):
        return any(_fits(value, member) for member in get_args(hint))
    if get_origin(hint) is tuple and isinstance(value, tuple):
        return _all_fit(cast("tuple[Any, ...]", value), get_args(hint))
    kinds, _ = EXPECTED.get(hint, ((get_origin(hint) or hint,), ""))
    return isinstance(value, kinds) and (hint is bool or not isinstance(value, bool))


def _is_union(hint: Any) -> bool:
    return isinstance(hint, UnionType) or get_origin(hint) is Union


def _all_fit(values: tuple[Any, ...], hints: tuple[Any, ...]) -> bool:
    """Whether the entries of a tuple fit their hints; `int, ...` stands for any number of them."""
    if hints[-1:] == (...,):
        return all(_fits(value, hints[0]) for value in values)
    return len(values) == len(hints) and all(map(_fits, values, hints))


def _expected(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return f"one of {', '.join(map(repr, get_args(hint)))}"
    if get_origin(hint) is tuple:
        entries = [_expected(entry) for entry in get_args(hint) if entry is not ...]
        return f"a tuple of {', '.join(entries) or 'nothing'}{' each' * (... in get_args(hint))}"
    if _is_union(hint):
        return " or ".join(map(_expected, get_args(hint)))
    return EXPECTED[hint][1] if hint in EXPECTED else f"a {(get_origin(hint) or hint).__name__}"
