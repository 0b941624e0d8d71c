"""Pairs in two files: a source a line in one, its target on the same line of the other.

OpenNMT, Sockeye, fairseq and Bastings et al. (2018) name them `train.src` and `train.trg`.
"""

from __future__ import annotations

from pathlib import Path
from typing import final

from daxy.core.errors import WrongFile, quote, require
from daxy.core.examples import Examples, Tokens
from daxy.core.files import decoded, read_bytes, write_text
from daxy.core.kinds import HEAD, TEXTS, check_kind
from daxy.core.split import Provenance
from daxy.formats._format import Format, Parts
from daxy.formats._pair_lines import without_carriage_returns

EXPECTED = "lines of tokens with single spaces"
SUFFIXES = (".src", ".trg")


def files_of(path: Path) -> tuple[Path, Path]:
    """Return the two files; `path` is one of them, or their name without suffix."""
    stem = path.with_suffix("") if path.suffix in SUFFIXES else path
    source, target = (stem.with_name(stem.name + suffix) for suffix in SUFFIXES)
    return source, target


def read(path: Path) -> Examples:
    """Return the pairs of two files.

    Args:
        path: One of them.

    Raises:
        WrongFile: a file cannot be read or has a wrong line, or the numbers of lines differ.
    """
    files = files_of(path)
    sources, targets = (read_bytes(file, EXPECTED) for file in files)
    return Examples.of(parse(sources, targets, files))


def parse(
    sources: bytes, targets: bytes, paths: tuple[Path | str, Path | str]
) -> list[tuple[Tokens, Tokens]]:
    """Return the pairs in the bytes of two files.

    Args:
        sources: Content of the file of sources.
        targets: Content of the file of targets.
        paths: Names of the files in errors.

    Raises:
        WrongFile: a line is wrong, or the files differ in their number of lines.
    """
    first, second = (_lines(*each) for each in zip((sources, targets), paths, strict=True))
    if len(first) != len(second):
        problem = f"{len(second):,} lines; {paths[0]} has {len(first):,}; expected as many"
        raise WrongFile(paths[1], problem)
    return list(zip(first, second, strict=True))


def _lines(data: bytes, path: Path | str) -> list[Tokens]:
    check_kind(data[:HEAD], path, EXPECTED, reads=TEXTS - {"empty"})
    lines = without_carriage_returns(data, path).removesuffix(b"\n").split(b"\n")
    try:
        return [_tokens(line, path, number) for number, line in enumerate(lines, start=1)]
    except WrongFile as error:
        if error.line == 1:
            check_kind(data[:HEAD], path, EXPECTED)
        raise


def _tokens(line: bytes, path: Path | str, number: int) -> Tokens:
    tokens = tuple(decoded(line, path, number).split(" "))
    for token in tokens:
        if not token:
            problem = "blank line" if tokens == ("",) else "two spaces, or one at an end"
            raise WrongFile(path, f"{problem}; expected {EXPECTED}", line=number)
        if not token.isprintable():
            problem = f"unprintable {quote(token, most=60)}; expected {EXPECTED}"
            raise WrongFile(path, problem, line=number)
    return tokens


def write(path: Path, examples: Examples) -> tuple[Path, Path]:
    """Write both files; return their paths.

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


@final
class Parallel(Format):
    """Two files with a side each."""

    name = "parallel"
    suffix = ".src"

    def files(self, path: Path) -> tuple[Path, ...]:
        """Return the two files."""
        return files_of(path)

    def write(self, path: Path, parts: Parts, provenance: Provenance) -> None:
        """Write both files; see `write`."""
        del provenance
        write(path, Examples.joined(list(parts.values())))

    def read(self, path: Path) -> Parts:
        """Return the pairs of two files; see `read`."""
        return {"": read(path)}


FORMAT = Parallel()
