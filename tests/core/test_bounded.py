"""Text files are read within limits."""

import io
from pathlib import Path

import pytest

from daxy.core.errors import WrongFile
from daxy.core.files import LONGEST, bounded, read_bytes


def joined(content: bytes, most: int = 1 << 30) -> bytes:
    return b"".join(bounded(io.BytesIO(content), "a.txt", "text", most=most))


@pytest.mark.parametrize("line", [1, LONGEST - 1, LONGEST])
def test_lines_up_to_the_limit_are_read(line: int) -> None:
    content = b"walk\n" + b"a" * line + b"\n" + b"b" * line
    assert joined(content) == content


@pytest.mark.parametrize("before", [b"", b"walk\n" * 300_000])
def test_a_longer_line_is_refused_with_its_number(before: bytes) -> None:
    number = before.count(b"\n") + 1
    expected = rf"a.txt:{number}: the line has more than 16,777,216 bytes; expected text"
    with pytest.raises(WrongFile, match=expected):
        joined(before + b"a" * (LONGEST + 1))


def test_a_longer_file_is_refused_with_the_limit() -> None:
    assert joined(b"walk\n" * 20, most=100)
    with pytest.raises(WrongFile, match="has more than 100 bytes; at most that many are read"):
        joined(b"walk\n" * 21, most=100)


def test_a_device_without_end_is_refused() -> None:
    with pytest.raises(WrongFile, match="/dev/zero: is binary data; expected text"):
        read_bytes(Path("/dev/zero"), "text")
