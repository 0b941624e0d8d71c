"""Two files with a side each, line by line: `train.src` and `train.trg`."""

from __future__ import annotations

from pathlib import Path

from daxy.core.errors import WrongFile, quote, require
from daxy.core.examples import Examples, Sequences, Tokens
from daxy.core.files import decoded, read_bytes, write_text

SUFFIXES = (".src", ".trg")


def files_of(path: Path) -> tuple[Path, Path]:
    """Return the two files of which `path` is one, or the common name without `.src`."""
    stem = path.with_suffix("") if path.suffix in SUFFIXES else path
    source, target = (stem.with_name(stem.name + suffix) for suffix in SUFFIXES)
    return source, target


def read(path: Path) -> Examples:
    """Return the pairs of two files.

    Raises:
        WrongFile: one cannot be read or has a wrong line, or they differ in their number of lines.
    """
    source, target = files_of(path)
    sides = lines(source), lines(target)
    if len(sides[0]) != len(sides[1]):
        counts = f"{len(sides[1]):,} lines, and {source.name} has {len(sides[0]):,}"
        raise WrongFile(target, f"{counts}; expected as many")
    return Examples(*map(Sequences.of, sides))


def lines(path: Path) -> list[Tokens]:
    """Return the tokens of each line of a file.

    Raises:
        WrongFile: it cannot be read, is empty, or has a line that is not tokens with single spaces.
    """
    data = read_bytes(path, "tokens with single spaces on each line")
    if not data:
        raise WrongFile(path, "the file is empty; expected tokens with single spaces on each line")
    rows = list[Tokens]()
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), start=1):
        text = decoded(line.removesuffix(b"\r"), path, number)
        tokens = tuple(text.split(" "))
        if not all(token and token.isprintable() for token in tokens):
            problem = "expected printable tokens with single spaces between them"
            raise WrongFile(path, problem, line=number)
        rows.append(tokens)
    return rows


def write(path: Path, examples: Examples) -> tuple[Path, Path]:
    """Write both files; return where.

    Raises:
        WrongRequest: a side has no tokens, or a token is not one word.
        RunFailed: a file cannot be written.
    """
    written = files_of(path)
    for side, file in zip((examples.source, examples.target), written, strict=True):
        require(bool(side.lengths.all()), f"{file.suffix} files cannot hold a side without tokens")
        odd = [each for each in side.compact().symbols if each.split() != [each]]
        require(not odd, f"{file.suffix} files cannot hold the token {quote(odd and odd[0])}")
        write_text(file, "".join(" ".join(tokens) + "\n" for tokens in side))
    return written
