"""Tables in TSV and CSV files, with or without a header and quotes."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from daxy.core.errors import WrongFile, quote
from daxy.formats._pair_lines import without_carriage_returns
from daxy.formats.layout import SIDES, Layout

BOM = b"\xef\xbb\xbf"
SAMPLE = 1 << 20
"""Bytes that decide whether the first line is a header."""
QUOTED = re.compile(rb'(?m)(?:^|\t)"[^\t\n]*"(?:\t|$)')
"""A cell of a TSV file in double quotes."""


def table_of(data: bytes, path: Path, layout: Layout, expected: str) -> tuple[pa.Table, int]:
    """Return the table of a TSV or CSV file, and the line of its first pair.

    Args:
        data: Content of the file.
        path: The file, whose suffix `.csv` stands for commas, and any other for tabs.
        layout: Names of the columns, header and quotes.
        expected: Noun phrase for other files that could be read, for errors.

    Raises:
        WrongFile: a line is wrong, or the file can be read in two ways.
    """
    text = without_carriage_returns(data.removeprefix(BOM), path).rstrip(b"\n")
    _check_utf8(text, path)
    between, mark = (",", "comma") if path.suffix.lower() == ".csv" else ("\t", "tab")
    head = text.partition(b"\n")[0].decode()
    if between not in head:
        raise WrongFile(path, f"no {mark} in {quote(head)}; expected {expected}", line=1)
    is_quoted = layout.quotes == "yes" or (layout.quotes == "auto" and between == ",")
    if layout.quotes == "auto" and not is_quoted:
        _check_quotes(text, path)
    quoting = csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE
    cells = next(csv.reader(io.StringIO(head), delimiter=between, quoting=quoting))
    has_header = layout.header == "yes" or (layout.header == "auto" and _is_header(cells, layout))
    if not has_header:
        _check_first_pair(cells, text, between, path, layout)
    names = cells if has_header else [*SIDES[0]]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise WrongFile(path, f"two columns are named {quote(twice[0])}", line=1)
    first_line = 1 + has_header
    return _cells(text, names, between, path, is_quoted=is_quoted, skip=first_line - 1), first_line


def _check_utf8(text: bytes, path: Path) -> None:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        problem = f"byte 0x{text[error.start]:02x} is not UTF-8; expected UTF-8 text"
        raise WrongFile(path, problem, line=line) from None


def _check_quotes(text: bytes, path: Path) -> None:
    """Refuse a TSV file whose quotes may be a part of the cells, or may enclose them."""
    cell = QUOTED.search(text)
    if cell is not None:
        line = text.count(b"\n", 0, cell.start() + 1) + 1
        problem = f"a cell in double quotes, {quote(cell[0].decode().strip())}"
        expected = "expected --quotes yes, which removes them, or --quotes no, which keeps them"
        raise WrongFile(path, f"{problem}; {expected}", line=line)


def _is_header(cells: Sequence[str], layout: Layout) -> bool:
    """Whether cells are the names of the columns."""
    if layout.named:
        return {*layout.named} <= {*cells}
    return any({*sides} <= {cell.casefold() for cell in cells} for sides in SIDES)


def _check_first_pair(
    cells: Sequence[str], text: bytes, between: str, path: Path, layout: Layout
) -> None:
    """Refuse a first line that is no pair of a file without a header, or may be a header."""
    line = quote(between.join(cells))
    if layout.named:
        missing = next((name for name in layout.named if name not in cells), layout.named[0])
        raise WrongFile(path, f"no header with the column {quote(missing)} in {line}", line=1)
    if layout.header == "auto" and all(len(cell.split()) == 1 for cell in cells):
        sample = text[:SAMPLE].partition(b"\n")[2].decode(errors="ignore")
        words = {*sample.replace(between, " ").split()}
        if words and words.isdisjoint(cell.strip() for cell in cells):
            problem = f"{line} may be a header: no other line has these words"
            expected = "--header yes with --source-column and --target-column, or --header no"
            raise WrongFile(path, f"{problem}; expected {expected}", line=1)
    if len(cells) != 2:
        problem = f"{len(cells)} columns and no header in {line}"
        expected = "expected two, or a header with --source-column and --target-column"
        raise WrongFile(path, f"{problem}; {expected}", line=1)


def _cells(
    text: bytes, names: list[str], between: str, path: Path, *, is_quoted: bool, skip: int
) -> pa.Table:
    """Return the cells of lines as a table of texts."""
    wrong = list[Any]()

    def refuse(row: Any) -> str:
        wrong.append(row)
        return "error"

    form = pa_csv.ParseOptions(
        delimiter=between,
        quote_char='"' if is_quoted else False,
        newlines_in_values=is_quoted,
        ignore_empty_lines=False,
        invalid_row_handler=refuse,
    )
    # A row knows its line in one thread only.
    reading = pa_csv.ReadOptions(use_threads=False, column_names=names, skip_rows=skip)
    kinds = dict.fromkeys(names, pa.string())
    texts = pa_csv.ConvertOptions(column_types=kinds, strings_can_be_null=False)
    try:
        return pa_csv.read_csv(pa.BufferReader(text + b"\n"), reading, form, texts)
    except pa.ArrowException as error:
        if not wrong:
            reason = (str(error).splitlines() or ["unreadable"])[0]
            raise WrongFile(path, f"cannot be read: {reason}") from error
        row = wrong[0]
        problem = f"{row.actual_columns} columns in {quote(row.text)}"
        expected = f"expected {row.expected_columns} columns"
        raise WrongFile(path, f"{problem}; {expected}", line=row.number) from None
