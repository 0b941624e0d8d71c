"""Settings by name: every field of every kind is checked before a dataclass is made."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Optional

import pytest

from daxy.core.errors import UnknownName, WrongRequest
from daxy.core.settings import added_field, field_docs, from_dict, to_dict


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One field of each kind."""

    count: int = 1
    rate: float = 0.5
    name: str = "a"
    is_on: bool = True
    kind: Literal["gru", "lstm"] = "gru"
    place: Path | None = None
    widths: tuple[int, ...] = (1,)
    pair: tuple[str, float] | None = None
    least: Optional[int] = None  # noqa: UP045 - as others write it

    shared: ClassVar[int] = 3


@dataclass(frozen=True)
class Grown:
    """What had one field once, and has two now."""

    old: int = 1
    new: float = added_field(2.0)


def test_what_came_later_is_stated_when_it_is_not_as_before() -> None:
    assert to_dict(Grown()) == {"old": 1}
    assert to_dict(Grown(old=3, new=2.0)) == {"old": 3}
    assert to_dict(Grown(new=2.5)) == {"old": 1, "new": 2.5}


def test_a_whole_number_in_the_place_of_any_is_stated_as_that_number() -> None:
    assert json.dumps(to_dict(Settings(rate=2))) == json.dumps(to_dict(Settings(rate=2.0)))
    assert json.dumps(to_dict(Settings(count=2))["count"]) == "2"


def test_what_was_stated_makes_the_same_settings_again() -> None:
    for settings in (Grown(), Grown(new=7.0), Grown(old=0)):
        assert from_dict(Grown, to_dict(settings), of="a test") == settings


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"count": -3},
        {"rate": 2},
        {"is_on": False, "kind": "lstm"},
        {"place": None},
        {"place": Path("x"), "name": ""},
        {"widths": ()},
        {"widths": (64, 64), "pair": ("a", 2)},
        {"least": 3},
    ],
)
def test_values_of_the_fields_types_are_taken(values: dict[str, Any]) -> None:
    assert from_dict(Settings, values, of="a test") == Settings(**values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"count": 2.0}, "count must be a whole number, not 2.0"),
        ({"count": True}, "count must be a whole number, not True"),
        ({"rate": "1"}, "rate must be a number, not '1'"),
        ({"rate": False}, "rate must be a number, not False"),
        ({"name": 1}, "name must be a text, not 1"),
        ({"is_on": 1}, "is-on must be True or False, not 1"),
        ({"kind": "rnn"}, "kind must be one of 'gru', 'lstm', not 'rnn'"),
        ({"kind": ["gru"]}, "kind must be one of 'gru', 'lstm', not ['gru']"),
        ({"place": "x"}, "place must be a path or None, not 'x'"),
        ({"widths": 3}, "widths must be a tuple of a whole number each, not 3"),
        ({"widths": (1, "2")}, "widths must be a tuple of a whole number each, not (1, '2')"),
        ({"pair": ("a",)}, "pair must be a tuple of a text, a number or None, not ('a',)"),
        ({"least": "x"}, "least must be a whole number or None, not 'x'"),
    ],
)
def test_other_values_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongRequest) as caught:
        from_dict(Settings, values, of="a test")
    assert str(caught.value) == message


def test_settings_come_back_from_json() -> None:
    settings = Settings(widths=(64, 32), pair=("a", 0.5))
    written = json.dumps(to_dict(replace(settings, place=None)))
    assert from_dict(Settings, json.loads(written), of="a test") == settings


def test_what_all_have_in_common_is_no_setting() -> None:
    with pytest.raises(UnknownName, match="shared"):
        from_dict(Settings, {"shared": 4}, of="a test")


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match="no setting of a test named 'cuont'; did you mean count"):
        from_dict(Settings, {"cuont": 1}, of="a test")


@dataclass(frozen=True, kw_only=True)
class Documented:
    """Fields of which one has no words, and one words on two lines."""

    first: int = 1
    """What it is,
    in full."""
    silent: int = 2
    last: tuple[int, ...] = (3,)
    """The last."""


def test_what_stands_below_a_field_describes_it() -> None:
    assert field_docs(Documented) == {"first": "What it is, in full.", "last": "The last."}
