"""Files of Tatoeba's sentences, and pairs with a tab between."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from daxy.core.errors import WrongFile, WrongRequest
from daxy.core.examples import Examples
from daxy.formats import tatoeba, tsv

UNSAID = b"\x81\x8d\x8f\x90\x9d"
"""Bytes that are no sign of Windows-1252."""
EXPECTED = "expected <English>, a tab, <French>, and maybe a tab and whose they are"


def written(folder: Path, data: bytes) -> Path:
    path = folder / "fra.txt"
    path.write_bytes(data)
    return path


def test_lines_have_two_columns_or_three_and_any_line_end(tmp_path: Path) -> None:
    data = "I'm ill.\tJe suis malade.\r\nGo!\tÇa va !\tCC-BY 2.0 (France) #1 & #2\nHi.\tSalut."
    assert tatoeba.read(written(tmp_path, data.encode())) == [
        (1, "I'm ill.", "Je suis malade."),
        (2, "Go!", "Ça va !"),
        (3, "Hi.", "Salut."),
    ]


def test_pairs_that_come_twice_are_there_twice(tmp_path: Path) -> None:
    assert len(tatoeba.read(written(tmp_path, b"Hi.\tSalut.\n" * 2))) == 2


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"", f"blank line; {EXPECTED}"),
        (b"\r", f"blank line; {EXPECTED}"),
        (b"Hi.", f"1 column; {EXPECTED}"),
        (b"1\tHi.\t2\tSalut.", f"4 columns; {EXPECTED}"),
        (b"\tSalut.", f"no English sentence; {EXPECTED}"),
        (b"Hi.\t ", f"no French sentence; {EXPECTED}"),
        (b"Hi.\tSa\0lut.", r"'\x00' in 'Hi.\tSa\x00lut.': the text is damaged"),
        (b"Hi.\tSa\xef\xbf\xbdlut.", "'\ufffd' in 'Hi.\\tSa\ufffdlut.': the text is damaged"),
        (
            "I'm ill.\tJe suis fatiguÃ©.".encode(),
            '"I\'m ill.\\tJe suis fatiguÃ©." was decoded as another encoding and saved again;'
            " expected UTF-8",
        ),
        (
            "Hi.\tÇa va.".encode("latin-1"),
            "byte 0xc7 at column 5 is not UTF-8; expected UTF-8 text",
        ),
    ],
)
def test_a_wrong_line_is_named(line: bytes, problem: str, tmp_path: Path) -> None:
    path = written(tmp_path, b"Hi.\tSalut.\n" + line + b"\n")
    with pytest.raises(WrongFile) as raised:
        tatoeba.read(path)
    assert str(raised.value) == f"{path}:2: {problem}"


@given(st.text("abcé àùœ’«»…–ÉŸ!\u00a0\u202f", max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_text_that_was_decoded_twice_is_told_from_text(tmp_path: Path, said: str) -> None:
    """Of Windows-1252, in which French is written often; what it has no sign for is kept."""
    line = f"Hi.\tÇa {said}"
    again = "".join(
        bytes([byte]).decode("cp1252") if byte not in UNSAID else chr(byte)
        for byte in line.encode()
    )
    assert tatoeba.read(written(tmp_path, line.encode()))[0].french == f"Ça {said}"
    if all(unicodedata.category(sign) != "Cc" for sign in again.replace("\t", "")):
        with pytest.raises(WrongFile, match="was decoded as another encoding and saved again"):
            tatoeba.read(written(tmp_path, again.encode()))


@pytest.mark.parametrize("encoding", ["mac_roman", "cp1250", "iso8859_2", "cp437", "cp850"])
def test_text_that_was_decoded_as_another_encoding_is_refused(
    tmp_path: Path, encoding: str
) -> None:
    again = "Je suis fatigué.".encode().decode(encoding)
    with pytest.raises(WrongFile, match="was decoded as another encoding and saved again"):
        tatoeba.read(written(tmp_path, f"I'm tired.\t{again}\n".encode()))


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongFile, match="the file is empty"):
        tatoeba.read(written(tmp_path, b""))


def test_pairs_with_a_tab_between_are_read_as_they_are_written() -> None:
    pairs = [(("i", "am", "."), ("je", "suis", "."))] * 2
    text = tsv.write(Examples.of(pairs))
    assert text == "i am .\tje suis .\n" * 2
    assert tsv.parse(text.encode(), "a.tsv") == pairs


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"i am .", "no tab in 'i am .'"),
        (b"i  am .\tje suis .", "two spaces, or one at an end, in 'i  am .\\tje suis .'"),
        (b"i am .\tje suis .\tmore", "a second tab in 'i am .\\tje suis .\\tmore'"),
    ],
)
def test_a_wrong_pair_is_named(line: bytes, problem: str) -> None:
    with pytest.raises(WrongFile) as raised:
        tsv.parse(b"a .\tb .\n" + line + b"\n", "a.tsv")
    assert str(raised.value).startswith(f"a.tsv:2: {problem}; expected `<source>")


def test_a_token_with_a_tab_is_not_written() -> None:
    with pytest.raises(WrongRequest, match="cannot hold the token"):
        tsv.write(Examples.of([(["a\tb"], ["c"])]))
