"""SCAN's official text format: `IN: jump left OUT: I_TURN_LEFT I_JUMP`, one pair a line.

Reading is strict: UTF-8, LF line ends, single spaces, no blank line. A wrong line stops the load
with its number; nothing is repaired or dropped. Only the last line may lack its line end, because
official files (MCD) do.
"""

from __future__ import annotations

from pathlib import Path

from daxy.core.errors import WrongFile
from daxy.core.examples import Examples, Tokens
from daxy.core.files import read_bytes

EXPECTED = "expected `IN: <command> OUT: <actions>` with single spaces"


def read(path: Path) -> Examples:
    """Return the pairs of a file in their order.

    Raises:
        WrongFile: the file cannot be read, or a line of it is wrong.
    """
    return Examples.of(parse(read_bytes(path), path))


def parse(data: bytes, path: Path | str) -> list[tuple[Tokens, Tokens]]:
    """Return the pairs in the bytes of a file; `path` is what errors call it."""
    if not data:
        raise WrongFile(path, f"the file is empty; {EXPECTED} on each line")
    lines = data.removesuffix(b"\n").split(b"\n")
    return [_parse_line(line, path, number) for number, line in enumerate(lines, start=1)]


def _parse_line(line: bytes, path: Path | str, number: int) -> tuple[Tokens, Tokens]:
    text = _decode(line, path, number)
    command, separator, actions = text.removeprefix("IN: ").partition(" OUT: ")
    if not text.startswith("IN: ") or not separator:
        raise WrongFile(path, f"{_complaint(text)}; {EXPECTED}", line=number)
    pair = tuple(command.split(" ")), tuple(actions.split(" "))
    for token in (*pair[0], *pair[1]):
        if not token.isprintable() or token in ("", "IN:", "OUT:"):
            problem = _token_complaint(token)
            raise WrongFile(path, f"{problem} in {_shown(text)}; {EXPECTED}", line=number)
    return pair


def _decode(line: bytes, path: Path | str, number: int) -> str:
    if number == 1 and line.startswith(b"\xef\xbb\xbf"):
        problem = "the file starts with a byte order mark; expected UTF-8 without one"
        raise WrongFile(path, problem, line=1)
    if b"\r" in line:
        ends = "CR LF" if line.index(b"\r") == len(line) - 1 else "CR"
        raise WrongFile(path, f"the line ends in {ends}; expected LF alone", line=number)
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{line[error.start]:02x} at column {error.start + 1} is not UTF-8"
        raise WrongFile(path, f"{wrong}; expected UTF-8 text", line=number) from None


def _complaint(text: str) -> str:
    if not text.strip():
        return "blank line"
    if not text.startswith("IN: "):
        return f"no `IN: ` at the start of {_shown(text)}"
    return f"no ` OUT: ` in {_shown(text)}"


def _token_complaint(token: str) -> str:
    if not token:
        return "two spaces, or one at an end,"
    return f"a second {token!r}" if token in ("IN:", "OUT:") else f"unprintable {token!r}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def write(examples: Examples) -> str:
    """Return the text of a file in the official format."""
    pairs = zip(examples.source, examples.target, strict=True)
    return "".join(f"IN: {' '.join(source)} OUT: {' '.join(target)}\n" for source, target in pairs)
