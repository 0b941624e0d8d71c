"""Sentences and their translations as Tatoeba's come: `Go.`, a tab, `Va !`, a line a pair.

After another tab the line may say whose sentences they are. Lines may end in LF or in CR LF.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import NamedTuple

from daxy.core.errors import WrongFile, quote
from daxy.core.files import decoded, lines
from daxy.core.kinds import HEAD, check_kind

COLUMNS = (2, 3)
LIKELY = re.compile("[\t -~\u00a0-\u017f\u2010-\u203a]")
"""What English and French are written with, and a bit more."""
MISTAKEN = ("cp1252", "mac_roman", "cp1250", "iso8859_2", "cp437", "cp850")
"""What UTF-8 is taken for by mistake: the encodings of Windows, of old Macs and of DOS."""
EXPECTED = "expected <English>, a tab, <French>, and maybe a tab and whose they are"


LINES = "lines with <English>, a tab, <French>"


class Line(NamedTuple):
    """One pair, as written."""

    number: int
    """Of the line, from 1."""
    english: str
    french: str


def read(path: Path) -> list[Line]:
    """Return the pairs of a file in their order, repeats included.

    Raises:
        WrongFile: the file cannot be read or is no UTF-8 text, or a line is blank, has another
            number of columns, or an empty one.
    """
    found = list[Line]()
    for number, line in enumerate(lines(path, LINES), start=1):
        try:
            found.append(_line(line, path, number))
        except WrongFile:
            if number == 1:
                check_kind(line[:HEAD], path, LINES, reads=("empty",))
            raise
    if not found:
        raise WrongFile(path, f"the file is empty; {EXPECTED} on each line")
    return found


def _line(line: bytes, path: Path, number: int) -> Line:
    text = decoded(line.removesuffix(b"\r"), path, number)
    if not text.strip():
        raise WrongFile(path, f"blank line; {EXPECTED}", line=number)
    columns = text.split("\t")
    if len(columns) not in COLUMNS:
        many = f"{len(columns)} column{'s' * (len(columns) != 1)}"
        raise WrongFile(path, f"{many}; {EXPECTED}", line=number)
    at = next((at for at, sign in enumerate(text) if sign != "\t" and _is_damage(sign)), None)
    if at is not None:
        problem = f"{text[at]!r} in {quote(text, at)}: the text is damaged"
        raise WrongFile(path, problem, line=number)
    if _is_decoded_twice(text):
        twice = f"{quote(text)} was decoded as another encoding and saved again; expected UTF-8"
        raise WrongFile(path, twice, line=number)
    english, french, *_ = columns
    for side, said in (("English", english), ("French", french)):
        if not said.strip():
            raise WrongFile(path, f"no {side} sentence; {EXPECTED}", line=number)
    return Line(number, english, french)


def _is_damage(sign: str) -> bool:
    """Whether a sign is of no text: of control, or one that stands for bytes that were lost."""
    return sign == "\ufffd" or unicodedata.category(sign) == "Cc"


def _is_decoded_twice(text: str) -> bool:
    """Whether UTF-8 was taken for another encoding once: `é` is `Ã©` in Windows-1252."""
    return any(_is_decoded_as(encoding, text) for encoding in MISTAKEN)


def _is_decoded_as(encoding: str, text: str) -> bool:
    try:
        again = b"".join(_byte(sign, encoding) for sign in text).decode()
    except UnicodeError:
        return False
    return again != text and all(LIKELY.fullmatch(sign) for sign in again)


def _byte(sign: str, encoding: str) -> bytes:
    """Return the byte that is read as this sign, or, where there is none, as it is in Latin-1."""
    try:
        return sign.encode(encoding)
    except UnicodeEncodeError:
        return sign.encode("latin-1")
