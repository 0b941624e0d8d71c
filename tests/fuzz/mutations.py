"""Damaged copies of valid inputs: which one a number stands for is the same everywhere."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

VALUE = re.compile(rb'-?\d[\d.eE+-]*|"(?:[^"\\]|\\.)*"|true|false|null|[^\s"]+')
"""What a reader takes for one value: a number, a string, a word."""
NASTY = (
    *(b"-1", b"0", b"1e999", b"0.5", b"256", b"65536", b"9" * 25, b"9" * 5000, b"NaN", b"-0"),
    *(b'""', b'"\\ud800"', b'"\\u0000"', b"null", b"true", b"[]", b"{}", b"[" * 3000, b'"a b"'),
    *(b'{"a":' * 2000, b"[1]", b'{"a": 1}', b"\xff", b"\x00", b"\x1b[2J", b"\r", b"\x85", b" "),
    *("\u2028\ufeff\u202e\u00a0\u0130\u00e9".encode(), b"\xed\xa0\x80", b"\t", b"\n", b"", b"--"),
    *(b"../../x", b"x" * 3000, b"1/0", b"1/3", b"None", b"=1+1", b"|||", b"</s>", b"#", b"->"),
)


def mutated(inputs: Sequence[bytes], reader: str, number: int) -> bytes:
    """Return one of the inputs with one to four damages; number 0 and on, each its own."""
    draw = random.Random(f"{reader} {number}")
    data = draw.choice(inputs)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        data = draw.choice(DAMAGES)(data, draw, draw.choice(inputs))
    return data


def _flip(data: bytes, draw: random.Random, other: bytes) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]


def _truncate(data: bytes, draw: random.Random, other: bytes) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] if draw.random() < 0.7 else data[at:]


def _duplicate(data: bytes, draw: random.Random, other: bytes) -> bytes:
    begin, end = _stretch(data, draw)
    return data[:end] + data[begin:end] * draw.choice((1, 1, 2, 50)) + data[end:]


def _delete(data: bytes, draw: random.Random, other: bytes) -> bytes:
    begin, end = _stretch(data, draw)
    return data[:begin] + data[end:]


def _splice(data: bytes, draw: random.Random, other: bytes) -> bytes:
    begin, end = _stretch(other, draw)
    at = draw.randrange(len(data) + 1)
    return data[:at] + other[begin:end] + data[at:]


def _lines(data: bytes, draw: random.Random, other: bytes) -> bytes:
    """Swap, repeat or drop a line, or end all in another way."""
    lines = data.split(b"\n")
    one, two = draw.randrange(len(lines)), draw.randrange(len(lines))
    kind = draw.randrange(4)
    if kind == 0:
        lines[one], lines[two] = lines[two], lines[one]
    elif kind == 1:
        lines.insert(one, lines[two])
    elif kind == 2:
        del lines[one]
    return (b"\r\n" if kind == 3 else b"\n").join(lines)


def _value(data: bytes, draw: random.Random, other: bytes) -> bytes:
    """Replace a value by a nasty one, or by another value."""
    places = list(VALUE.finditer(data))
    if not places:
        return draw.choice(NASTY)
    place = draw.choice(places)
    values = [each[0] for each in VALUE.finditer(other)]
    new = draw.choice(values) if values and draw.random() < 0.5 else draw.choice(NASTY)
    return data[: place.start()] + new + data[place.end() :]


def _insert(data: bytes, draw: random.Random, other: bytes) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.choice(NASTY) + data[at:]


def _stretch(data: bytes, draw: random.Random) -> tuple[int, int]:
    begin = draw.randrange(len(data) + 1)
    return begin, min(len(data), begin + draw.choice((1, 2, 8, 40, 300)))


DAMAGES = (_flip, _truncate, _duplicate, _delete, _splice, _lines, _value, _value, _insert)
