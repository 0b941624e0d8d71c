import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.core.errors import MOST_QUOTED, UnknownName, WrongFile, quote, visible


def test_an_unknown_name_suggests_the_nearest() -> None:
    error = UnknownName("task", "scan/lenght", ["scan/length", "scan/simple"])
    assert str(error) == "no task named 'scan/lenght'; did you mean scan/length?"


def test_case_does_not_keep_a_name_from_being_suggested() -> None:
    for name in ("SCAN/LENGTH", "Scan/Lenght"):
        error = UnknownName("task", name, ["scan/length", "scan/simple"])
        assert str(error) == f"no task named {name!r}; did you mean scan/length?"
    same = UnknownName("task", "SCAN/length", ["gscan/length", "scan/length"])
    assert same.did_you_mean == ["scan/length"]


def test_a_name_near_nothing_gets_a_short_list() -> None:
    assert str(UnknownName("metric", "x", ["exact"])) == "no metric named 'x'; known: exact"


def test_names_with_numbers_or_commas_are_listed_as_people_would() -> None:
    known = ["G, k = 10", "G, k = 5"]
    assert str(UnknownName("row", "?", known)) == "no row named '?'; known: G, k = 5; G, k = 10"


def test_a_name_near_nothing_gets_the_way_to_a_long_list() -> None:
    known = [f"name{number}" for number in range(20)]
    assert str(UnknownName("task", "?", known)) == "no task named '?'; `daxy tasks` lists all 20"


def test_a_wrong_file_is_named_with_its_line() -> None:
    assert str(WrongFile("a.txt", "blank line", line=3)) == "a.txt:3: blank line"


@given(st.text(max_size=2000) | st.text("'\"\x1b\u202ea", max_size=900), st.integers(0, 2000))
def test_a_quote_is_short_printable_and_shows_the_place_that_matters(text: str, at: int) -> None:
    said = quote(text, at)
    assert len(said) <= MOST_QUOTED + 2
    assert said.isprintable()
    assert at >= len(text) or repr(text[at])[1:-1] in said
    assert len(text) <= MOST_QUOTED / 10 or said == repr(text) or "..." in said


def test_a_long_line_is_cut_around_its_wrong_column() -> None:
    said = quote("a" * 10**6 + "!" + "b" * 10**6, 10**6)
    assert said.startswith("'...aaa")
    assert "a!b" in said
    assert said.endswith("bbb...'")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("plain", "'plain'"),
        ({"a": [1, None]}, "{'a': [1, None]}"),
        (np.zeros((200, 200)), "a value of type ndarray"),
    ],
)
def test_any_value_is_quoted(value: object, said: str) -> None:
    assert quote(value) == said


def test_a_number_that_python_does_not_write_is_quoted_by_its_size() -> None:
    assert quote(1 << 16_609) == "a number of 16,610 bits"


def test_a_huge_or_deep_value_is_quoted_briefly() -> None:
    deep: list[object] = []
    for _ in range(10**5):
        deep = [deep]
    for value in (["a" * 500] * 10**5, deep, {str(i): i for i in range(10**5)}):
        assert len(quote(value)) <= MOST_QUOTED


def test_control_characters_are_escaped_for_a_terminal() -> None:
    assert visible("a\x1b[31m\u202e\x9b\ud800\tb\n") == "a\\x1b[31m\\u202e\\u009b\\ud800\tb\n"
    assert visible("é日本\u200d👩‍🔬") == "é日本\u200d👩‍🔬"
