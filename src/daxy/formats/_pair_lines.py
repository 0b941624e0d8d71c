"""Text formats with one pair a line.

Reading is strict: UTF-8, single spaces, no blank line, and line ends LF or all CR LF, as git writes
them on Windows. A wrong line is an error with its number. Only the last line may lack its line end,
as in official files (MCD).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from daxy.core.errors import WrongFile, quote, require
from daxy.core.examples import Examples, Tokens
from daxy.core.files import decoded, read_bytes
from daxy.core.kinds import HEAD, TEXTS, check_kind
from daxy.formats._format import Parts, TextFormat

FORMULA = ("=", "+", "-", "@")
"""Beginnings of cells that a spreadsheet computes."""
MOST_OF_LINE, MOST_OF_TOKEN = 120, 60
"""Maximum characters of a quoted line and of its wrong token."""


@dataclass(frozen=True)
class PairLines(TextFormat):
    """A format of lines without names of parts."""

    name: str
    suffix: str
    form: str
    """Form of a line, for errors."""
    before: str
    between: str
    after: str = ""
    kind: str = ""
    """Name of the kind in `daxy.core.kinds`, if it has one."""

    def text(self, parts: Parts) -> str:
        """Return the text of a file; see `lines`."""
        return "".join(map(self.lines, parts.values()))

    def parse(self, data: bytes, path: Path) -> Parts:
        """Return the only part of a file; see `pairs`."""
        return {"": Examples.of(self.pairs(data, path))}

    def examples(self, path: Path) -> Examples:
        """Return the pairs of a file.

        Raises:
            WrongFile: the file cannot be read or has a wrong line.
        """
        return Examples.of(self.pairs(read_bytes(path, self._lines), path))

    def pairs(self, data: bytes, path: Path | str) -> list[tuple[Tokens, Tokens]]:
        """Return the pairs in the bytes of a file, named `path` in errors.

        Raises:
            WrongFile: a line is wrong.
        """
        # A pair may begin as JSON does: such a kind is refused where the first line is wrong.
        check_kind(data[:HEAD], path, self._lines, reads=TEXTS - {"empty"})
        lines = without_carriage_returns(data, path).removesuffix(b"\n").split(b"\n")
        try:
            return [self._pair(line, path, number) for number, line in enumerate(lines, start=1)]
        except WrongFile as error:
            if error.line == 1:
                check_kind(data[:HEAD], path, self._lines, reads=(self.kind,))
            raise

    def lines(self, examples: Examples) -> str:
        """Return the lines of examples.

        Raises:
            WrongRequest: a side has no tokens, or a token cannot be written.
        """
        some = all(side.lengths.all() for side in (examples.source, examples.target))
        require(some, f"`{self.form}` cannot hold a side without tokens")
        for symbol in {*examples.source.compact().symbols, *examples.target.compact().symbols}:
            is_one = symbol.split() == [symbol] and symbol.isprintable()
            odd = f"`{self.form}` cannot hold the token {quote(symbol)}"
            require(is_one and symbol not in self._marks, odd)
        if self.between == "\t":
            _check_cells(examples)
        pairs = zip(examples.source, examples.target, strict=True)
        return "".join(
            f"{self.before}{' '.join(source)}{self.between}{' '.join(target)}{self.after}\n"
            for source, target in pairs
        )

    @property
    def _expected(self) -> str:
        return f"expected `{self.form}` with single spaces"

    @property
    def _lines(self) -> str:
        return f"lines `{self.form}` with single spaces"

    @cached_property
    def _marks(self) -> tuple[str, ...]:
        marks = (each.strip() for each in (self.before, self.between, self.after))
        return tuple(mark for mark in marks if mark)

    def _pair(self, line: bytes, path: Path | str, number: int) -> tuple[Tokens, Tokens]:
        text = decoded(line, path, number)
        inner = text.removeprefix(self.before).removesuffix(self.after)
        source, separator, target = inner.partition(self.between)
        framed = text.startswith(self.before) and text.endswith(self.after)
        if not framed or not separator:
            raise WrongFile(path, f"{self._complaint(text)}; {self._expected}", line=number)
        pair = tuple(source.split(" ")), tuple(target.split(" "))
        begins = len(self.before), len(self.before) + len(source) + len(self.between)
        for tokens, begin in zip(pair, begins, strict=True):
            at = begin
            for token in tokens:
                if not token.isprintable() or token == "" or token in self._marks:
                    wrong = (
                        f"{self._token_complaint(token)} in {quote(text, at, most=MOST_OF_LINE)}"
                    )
                    raise WrongFile(path, f"{wrong}; {self._expected}", line=number)
                at += len(token) + 1
        return pair

    def _complaint(self, text: str) -> str:
        if not text.strip():
            return "blank line"
        if not text.startswith(self.before):
            return f"no `{self.before}` at the start of {quote(text)}"
        if not text.endswith(self.after):
            return f"no `{self.after}` at the end of {quote(text, len(text))}"
        return f"no {_name(self.between)} in {quote(text)}"

    def _token_complaint(self, token: str) -> str:
        if not token:
            return "two spaces, or one at an end,"
        if "\t" in token and self.between == "\t":
            return "a second tab"
        if token in self._marks:
            return f"a second {token!r}"
        at = next((at for at, sign in enumerate(token) if not sign.isprintable()), 0)
        return f"unprintable {quote(token, at, most=MOST_OF_TOKEN)}"


def without_carriage_returns(data: bytes, path: Path | str) -> bytes:
    """Return text with LF line ends, in place of CR LF on all lines.

    Raises:
        WrongFile: line ends are mixed, or a carriage return is within a line.
    """
    if b"\r" not in data:
        return data
    plain = data.replace(b"\r\n", b"\n")
    ends = data.count(b"\n"), len(data) - len(plain)
    if b"\r" in plain:
        lone = re.search(rb"\r(?!\n)", data)
        assert lone is not None
        line = data[: lone.start()].count(b"\n") + 1
        problem = "a carriage return (CR) within the line; expected line ends LF, or all CR LF"
        raise WrongFile(path, problem, line=line)
    if ends[0] != ends[1]:
        first = data[: data.index(b"\n")].endswith(b"\r")
        other = re.search(rb"(?<!\r)\n" if first else rb"\r\n", data)
        assert other is not None
        names = ("LF", "CR LF") if first else ("CR LF", "LF")
        problem = f"the line ends in {names[0]} and those before in {names[1]}"
        number = data[: other.start()].count(b"\n") + 1
        raise WrongFile(path, f"{problem}; expected one of them", line=number)
    return plain


def _check_cells(examples: Examples) -> None:
    """Refuse sides that a spreadsheet would compute as formulas."""
    for side in (examples.source, examples.target):
        for code in np.unique(side.codes[side.offsets[:-1]]):
            first = side.symbols[code]
            formula = f"a side begins with {quote(first)}, which spreadsheets take for a formula"
            require(not first.startswith(FORMULA), f"{formula}; expected another format, as jsonl")


def _name(mark: str) -> str:
    return "tab" if mark == "\t" else f"`{mark}`"
