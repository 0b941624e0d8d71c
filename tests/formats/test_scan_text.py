from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.core.errors import DaxyError, WrongFile, WrongRequest
from daxy.core.examples import Examples, Tokens
from daxy.formats import scan_text

GOOD = b"IN: jump left OUT: I_TURN_LEFT I_JUMP\n"
PAIR = (("jump", "left"), ("I_TURN_LEFT", "I_JUMP"))


def test_a_line_is_a_pair() -> None:
    assert scan_text.parse(GOOD * 2, "a.txt") == [PAIR, PAIR]


def test_the_last_line_may_lack_its_end() -> None:
    assert scan_text.parse(GOOD.removesuffix(b"\n"), "a.txt") == [PAIR]


EXPECTED = "expected `IN: <command> OUT: <actions>` with single spaces"
LINES = EXPECTED.replace("expected", "expected lines")


def test_line_ends_of_windows_change_nothing() -> None:
    lines = GOOD * 3
    for text in (lines, lines.removesuffix(b"\n")):
        windows = text.replace(b"\n", b"\r\n")
        assert scan_text.parse(windows, "a.txt") == scan_text.parse(text, "a.txt")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", f"a.txt: the file is empty; {LINES}"),
        (GOOD + b"\n" + GOOD, f"a.txt:2: blank line; {EXPECTED}"),
        (GOOD + b"\n", f"a.txt:2: blank line; {EXPECTED}"),
        (GOOD + b"   \n", f"a.txt:2: blank line; {EXPECTED}"),
        (
            GOOD + GOOD.replace(b"\n", b"\r\n"),
            "a.txt:2: the line ends in CR LF and those before in LF; expected one of them",
        ),
        (
            (GOOD + GOOD).replace(b"\n", b"\r\n") + GOOD,
            "a.txt:3: the line ends in LF and those before in CR LF; expected one of them",
        ),
        (
            GOOD + GOOD.replace(b"\n", b"\r"),
            "a.txt:2: a carriage return (CR) within the line; expected line ends LF, or all CR LF",
        ),
        (
            b'[{"command": "walk"}]',
            f"a.txt: is a JSON array; {LINES}; convert it with `jq -c '.[]' FILE`",
        ),
        (
            b'{"grid_size": 6, "type_grammar": "adverb",\n',
            f"a.txt: is a dataset.txt of gSCAN; {LINES};"
            " `--official` of gscan/compositional and gscan/length takes it",
        ),
        (b"PK\x03\x04\x14", f"a.txt: is a zip archive; {LINES}; unpack it first"),
        (
            b"\xef\xbb\xbf" + GOOD,
            "a.txt:1: the file starts with a byte order mark; expected UTF-8 without one",
        ),
        (
            GOOD + b"IN: caf\xe9 OUT: I_JUMP\n",
            "a.txt:2: byte 0xe9 at column 8 is not UTF-8; expected UTF-8 text",
        ),
        (
            b"jump OUT: I_JUMP\n",
            f"a.txt:1: no `IN: ` at the start of 'jump OUT: I_JUMP'; {EXPECTED}",
        ),
        (b"IN: jump I_JUMP\n", f"a.txt:1: no ` OUT: ` in 'IN: jump I_JUMP'; {EXPECTED}"),
        (b"IN: jump OUT:\n", f"a.txt:1: no ` OUT: ` in 'IN: jump OUT:'; {EXPECTED}"),
        (
            b"IN: jump  left OUT: I_JUMP\n",
            "a.txt:1: two spaces, or one at an end, in 'IN: jump  left OUT: I_JUMP'; " + EXPECTED,
        ),
        (
            b"IN: jump OUT: I_JUMP \n",
            "a.txt:1: two spaces, or one at an end, in 'IN: jump OUT: I_JUMP '; " + EXPECTED,
        ),
        (
            b"IN: jump\tleft OUT: I_JUMP\n",
            "a.txt:1: unprintable 'jump\\tleft' in 'IN: jump\\tleft OUT: I_JUMP'; " + EXPECTED,
        ),
        (
            b"IN: jump OUT: I_JUMP OUT: I_JUMP\n",
            "a.txt:1: a second 'OUT:' in 'IN: jump OUT: I_JUMP OUT: I_JUMP'; " + EXPECTED,
        ),
    ],
)
def test_a_wrong_line_is_refused_with_its_number(content: bytes, message: str) -> None:
    with pytest.raises(WrongFile) as caught:
        scan_text.parse(content, "a.txt")
    assert str(caught.value) == message


words = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1)
sentences = st.lists(words.filter(lambda word: word not in ("IN:", "OUT:")), min_size=1)


@given(pairs=st.lists(st.tuples(sentences, sentences), min_size=1))
def test_what_is_written_is_read_back(pairs: list[tuple[list[str], list[str]]]) -> None:
    text = scan_text.write(Examples.of(pairs))
    assert scan_text.parse(text.encode(), "a.txt") == [
        (tuple(source), tuple(target)) for source, target in pairs
    ]


@pytest.mark.parametrize("pair", [((), ("I_JUMP",)), (("jump",), ())])
def test_a_side_without_tokens_is_not_written(pair: tuple[Tokens, Tokens]) -> None:
    with pytest.raises(WrongRequest, match="cannot hold a side without tokens"):
        scan_text.write(Examples.of([pair]))


@given(content=st.binary() | st.text().map(str.encode) | st.binary().map(lambda b: GOOD + b))
def test_any_bytes_are_read_or_refused_in_one_line(content: bytes) -> None:
    try:
        pairs = scan_text.parse(content, "a.txt")
    except DaxyError as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert scan_text.write(Examples.of(pairs)).encode() == content.removesuffix(b"\n") + b"\n"


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongFile, match="no such file"):
        scan_text.read(tmp_path / "absent.txt")
