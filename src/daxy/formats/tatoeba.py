"""Tatoeba's sentences and translations: `Go.`, a tab, `Va !`, one pair a line.

An attribution may follow after another tab. Lines end in LF or CR LF.
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
"""Characters of English and French, and a few more."""
MISTAKEN = ("cp1252", "mac_roman", "cp1250", "iso8859_2", "cp437", "cp850")
"""Encodings that UTF-8 is mistaken for: those of Windows, old Macs and DOS."""
EXPECTED = "expected <English>, a tab, <French>, and maybe a tab and whose they are"


LINES = "lines with <English>, a tab, <French>"


class Line(NamedTuple):
    """One pair, as written."""

    number: int
    """Line number, from 1."""
    english: str
    french: str


def read(path: Path) -> list[Line]:
    """Return the pairs of a file in their order, repeats included.

    Raises:
        WrongFile: the file cannot be read or is no UTF-8 text, or a line is blank, has another
            number of columns, or an empty one.
    """
    pairs = list[Line]()
    for number, line in enumerate(lines(path, LINES), start=1):
        try:
            pairs.append(_line(line, path, number))
        except WrongFile:
            if number == 1:
                check_kind(line[:HEAD], path, LINES, reads=("empty",))
            raise
    if not pairs:
        raise WrongFile(path, f"the file is empty; {EXPECTED} on each line")
    return pairs


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
    for side, sentence in (("English", english), ("French", french)):
        if not sentence.strip():
            raise WrongFile(path, f"no {side} sentence; {EXPECTED}", line=number)
    return Line(number, english, french)


def _is_damage(sign: str) -> bool:
    """Whether a character is a control character or stands for lost bytes."""
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
    """Return the byte of a character, else that of Latin-1."""
    try:
        return sign.encode(encoding)
    except UnicodeEncodeError:
        return sign.encode("latin-1")
