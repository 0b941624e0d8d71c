"""Names of columns, parts and files of pairs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from daxy.core.errors import WrongFile
from daxy.core.examples import Examples

SIDES = (
    ("source", "target"),
    ("input", "output"),
    ("src", "tgt"),
    ("src", "trg"),
    ("commands", "actions"),
    ("command", "actions"),
)
"""Names of the two columns, in the order in which they are looked for."""
SHARD = re.compile(r"-\d+-of-\d+$")
STDIN = Path("-")
PARTS = {
    "train": "train",
    "training": "train",
    "valid": "validation",
    "validation": "validation",
    "val": "validation",
    "dev": "validation",
    "test": "test",
}
"""Parts by the names that files and columns have for them."""

Parts = dict[str, Examples]
"""Examples by part; the name is empty where a file names none."""


@dataclass(frozen=True)
class Rows:
    """Rows of a file or of a table, for errors."""

    path: Path | str
    first_line: int = 0
    """Line of the first row; 0 where rows are no lines."""

    def wrong(self, row: int, problem: str) -> WrongFile:
        """Return the error of a row, from 0."""
        if self.first_line:
            return WrongFile(self.path, problem, line=row + self.first_line)
        return WrongFile(self.path, f"row {row + 1}: {problem}")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Names of columns, and the form of texts and tokens."""

    source_column: str = ""
    """Column of the sources; by default `source`, `input`, `src`, `command` or `commands`."""
    target_column: str = ""
    """Column of the targets; by default `target`, `output`, `tgt`, `trg` or `actions`."""
    split_column: str = ""
    """Column with the part of each pair; by default `split`, if there is one."""
    tokens: Literal["words", "characters"] = "words"
    """Tokens of a text: words with spaces between, or characters."""
    header: Literal["auto", "yes", "no"] = "auto"
    """Whether the first line of a TSV or CSV file names its columns."""
    quotes: Literal["auto", "yes", "no"] = "auto"
    """Whether double quotes may enclose cells; by default in CSV files only."""

    def accept(self, examples: Examples, rows: Rows) -> Examples:
        """Return the pairs of a file as its task takes them: here as they are.

        Args:
            examples: The pairs, in the order of the file.
            rows: Their places in the file, for errors.
        """
        del rows
        return examples

    @property
    def named(self) -> list[str]:
        """Names of the columns of sources and targets, if given."""
        return [name for name in (self.source_column, self.target_column) if name]


def part_of(name: str) -> str:
    """Return the part that a file, or a value of a column, names; other names are tests."""
    return PARTS.get(name.casefold(), name)


def part_name(path: Path) -> str:
    """Return the part that a file is named after: `train-00000-of-00002.parquet` is train."""
    return part_of(SHARD.sub("", path.stem))
