import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.core.errors import WrongFile
from daxy.core.json_objects import NotJSON, decode, read

WRONG = [
    (b"[" * 100_000, 1, "no JSON: nested too deeply at column "),
    (b'{"a":' * 100_000, 1, "no JSON: nested too deeply at column "),
    (b"\xef\xbb\xbf{}", 1, "starts with a byte order mark"),
    (b'{"a": 1,\n "b": {"c": "}\\"", "c" : 2}}', 2, "the key 'c' is there twice at column 20"),
    (
        b'[{"a": 1}, {"a": [{"b": 1}], "c": 1,\n"a": 2}]',
        2,
        "the key 'a' is there twice at column 1",
    ),
    (b'{"a":\n1e999}', 2, "the number '1e999' is outside of 64 bits at column 1"),
    (b'["1e99", 1' + b"0" * 5000 + b"]", 1, "is outside of 64 bits at column 10"),
    (b"[NaN]", 1, "NaN is no number at column 2"),
    (b'["\\ud83d\\ude00",\n"\\ud800"]', 2, "half of a surrogate pair is no text at column 2"),
    (b'[1,\n "\xc3\xa9\xff"]', 2, "not UTF-8 at column 4"),
    (b'{"a"', 1, "no JSON: Expecting ':' delimiter at column 5"),
    (b" \n", 1, "blank"),
]


@pytest.mark.parametrize(("data", "line", "problem"), WRONG)
def test_wrong_bytes_are_named_with_their_place(data: bytes, line: int, problem: str) -> None:
    with pytest.raises(NotJSON) as error:
        decode(data)
    assert error.value.line == line
    assert problem in str(error.value)


def test_a_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{\n"a": 1,}')
    with pytest.raises(WrongFile, match=r"a\.json:2: no JSON: .* at column [78]"):
        read(path)


def test_what_a_diverged_run_logs_is_read_where_that_is_asked_for() -> None:
    assert decode(b'{"loss": Infinity}', constants=True) == {"loss": float("inf")}


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_what_json_writes_is_read_as_it_was(value: object) -> None:
    for escaped in (True, False):
        assert decode(json.dumps(value, ensure_ascii=escaped).encode()) == value


@given(st.binary() | st.text(alphabet='{}[]":,\\u0dD8eE.-19 \n').map(str.encode))
def test_any_bytes_are_a_value_or_are_refused(data: bytes) -> None:
    try:
        value = decode(data)
    except NotJSON:
        return
    assert value == json.loads(data)
