"""Pairs in files of other programs: tables with named columns, lines, and folders of these.

The formats of this room are strict, and each is what `daxy export` writes. Files of other programs
have headers, quotes, a byte order mark, other names of columns. `read` takes all of these, and
refuses what can be read in two ways. It reads every table by PyArrow, as columns.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.ipc as pa_ipc

from daxy.core import json_objects
from daxy.core.errors import WrongFile, in_one_line, quote
from daxy.core.examples import Examples, Sequences
from daxy.core.files import read_bytes
from daxy.core.kinds import HEAD, kind_of
from daxy.formats import jsonl, pairs, parallel, parquet
from daxy.formats._pair_lines import without_carriage_returns

SIDES = (
    ("source", "target"),
    ("input", "output"),
    ("src", "tgt"),
    ("src", "trg"),
    ("commands", "actions"),
    ("command", "actions"),
)
"""Names of the two columns, in the order in which they are looked for."""
SPLIT = "split"
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
SUFFIXES = (".tsv", ".csv", ".txt", ".jsonl", ".json", ".parquet", ".arrow", ".src")
"""Suffixes of files in a folder that are read; `.trg` is read with `.src`."""
NOT_DATA = ("provenance.json", "dataset_info.json", "dataset_infos.json", "state.json")
READABLE = "pairs as TSV, CSV, JSON, Parquet or Arrow, or lines `IN: ... OUT: ...`"
SHARD = re.compile(r"-\d+-of-\d+$")
BOM = b"\xef\xbb\xbf"
SAMPLE = 1 << 20
"""Bytes that decide whether the first line is a header."""

Parts = dict[str, Examples]
"""Examples by part; the name is empty where a file names none."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where a table has sources and targets, and what their tokens are."""

    source: str = ""
    """Column of the sources; empty: one of `SIDES`."""
    target: str = ""
    """Column of the targets."""
    split: str = ""
    """Column with the part of each pair; empty: `split`, if there is one."""
    tokens: Literal["words", "characters"] = "words"
    """Whether a text is words with spaces between, or characters."""
    header: Literal["auto", "yes", "no"] = "auto"
    """Whether the first line of a TSV or CSV file names its columns."""
    quotes: Literal["auto", "yes", "no"] = "auto"
    """Whether cells may be in double quotes; by default in CSV files only."""


def read(place: Path, layout: Layout) -> Parts:
    """Return the pairs of a file, of two files `SOURCES,TARGETS`, or of a folder, part by part.

    Raises:
        WrongFile: a file cannot be read, has a wrong line, or can be read in two ways.
    """
    if place.is_dir():
        return _folder(place, layout)
    if "," in str(place) and not place.exists():
        return _two_files(place)
    if place.suffix in parallel.SUFFIXES:
        return {"": parallel.read(place)}
    if place.suffix == ".arrow":
        return parts_of(_arrow([place]), place, layout)
    if place.suffix == ".parquet" and place.is_file():
        return parts_of(parquet.load(place, ()), place, layout)
    return _text(read_bytes(place), place, layout)


def _text(data: bytes, place: Path, layout: Layout) -> Parts:
    kind = kind_of(data[:HEAD])
    name = "" if kind is None else kind.name
    if name == "parquet":
        parquet.FORMAT.parse(data, place)  # which says why not
    if name == "scan-text" or data.startswith(b"<s> "):
        return dict(pairs.parsed(data, place).parts)
    if place.suffix == ".json" and b"\n" not in data.strip() and name == "json-lines":
        name = "json"
    if name == "json-lines" or (name == "json" and place.suffix == ".jsonl"):
        return parts_of(_table(jsonl.objects_in(data, place), place), place, layout)
    if name in ("json", "json-array"):
        return _json(data, place, layout)
    if kind is not None:
        advice = f"; {kind.advice}" if kind.advice else ""
        noun = "the file is empty" if name == "empty" else f"is {kind.noun}"
        raise WrongFile(place, f"{noun}; expected {READABLE}{advice}")
    return parts_of(*_delimited(data, place, layout))


# Files and folders


def _two_files(place: Path) -> Parts:
    paths = [Path(each) for each in str(place).split(",")]
    if len(paths) != 2:
        raise WrongFile(place, "no such file; expected one file, or SOURCES,TARGETS")
    sources, targets = (read_bytes(path, parallel.EXPECTED) for path in paths)
    return {"": Examples.of(parallel.parse(sources, targets, (paths[0], paths[1])))}


def _folder(folder: Path, layout: Layout) -> Parts:
    """Return the parts of a folder: of `datasets.save_to_disk`, or with a file a part."""
    saved = sorted(folder.glob("*/state.json")) or sorted(folder.glob("state.json"))
    if saved:
        tables = {path.parent: _arrow(sorted(path.parent.glob("*.arrow"))) for path in saved}
        return _named(
            (PARTS.get(at.name, at.name), parts_of(table, at, layout))
            for at, table in tables.items()
        )
    inner = folder / "data" if (folder / "data").is_dir() else folder
    files = [path for path in sorted(inner.iterdir()) if _is_data(path)]
    if not files:
        raise WrongFile(folder, "is a folder without pairs; expected a file a part, as train.tsv")
    single = [part_name(path) for path in files if not SHARD.search(path.stem)]
    for name in single:
        if single.count(name) > 1:
            both = ", ".join(path.name for path in files if part_name(path) == name)
            raise WrongFile(folder, f"has several files of {name}: {both}; expected one")
    return _named((part_name(path), read(path, layout)) for path in files)


def _is_data(path: Path) -> bool:
    is_hidden = path.name.startswith((".", "_"))
    return path.suffix in SUFFIXES and path.name not in NOT_DATA and not is_hidden


def part_name(path: Path) -> str:
    """Return the part that a file is named after: `train-00000-of-00002.parquet` is train."""
    stem = SHARD.sub("", path.stem)
    return PARTS.get(stem.casefold(), stem)


def _named(files: Iterable[tuple[str, Parts]]) -> Parts:
    """Return the parts of several files, each under the name of its file; shards are joined."""
    found: dict[str, list[Examples]] = {}
    for name, parts in files:
        for part, examples in parts.items():
            found.setdefault(part or name, []).append(examples)
    return {name: joined(shards) for name, shards in found.items()}


def joined(parts: Sequence[Examples]) -> Examples:
    """Return all examples in one table; their dictionaries may differ."""
    if len(parts) == 1:
        return parts[0]
    source, target = ([getattr(part, side) for part in parts] for side in ("source", "target"))
    return Examples(_concatenated(source), _concatenated(target))


def _concatenated(sides: Sequence[Sequences]) -> Sequences:
    symbols = tuple(sorted({symbol for side in sides for symbol in side.symbols}))
    if len(symbols) > 1 << 16:
        return Sequences.of((), symbols)  # which refuses so many
    code = {symbol: number for number, symbol in enumerate(symbols)}
    recoded = [
        Sequences(
            symbols,
            np.array([code[symbol] for symbol in side.symbols], np.uint16)[side.codes]
            if len(side.codes)
            else side.codes,
            side.offsets,
        )
        for side in sides
    ]
    return Sequences.joined(recoded)


# Tables


def _arrow(paths: Sequence[Path]) -> pa.Table:
    """Return the table in Arrow files, as `datasets` and pandas write them."""
    tables = list[pa.Table]()
    for path in paths:
        data = pa.BufferReader(read_bytes(path))
        is_file = data.read(6) == b"ARROW1"
        data.seek(0)
        try:
            tables.append((pa_ipc.open_file if is_file else pa_ipc.open_stream)(data).read_all())
        except (OSError, pa.ArrowException) as error:
            reason = (str(error).splitlines() or ["unreadable"])[0]
            raise WrongFile(path, f"cannot be read as Arrow: {reason}") from error
    if not tables:
        raise WrongFile(Path(), "no Arrow file")
    return pa.concat_tables(tables).combine_chunks()


def _json(data: bytes, place: Path, layout: Layout) -> Parts:
    """Return the parts of one JSON value: a list of objects, or one such list a part."""
    value = json_objects.decode_file(data.removeprefix(BOM), place)
    if isinstance(value, Mapping):
        lists = cast("Mapping[str, Any]", value)
        if any(set(sides) <= lists.keys() for sides in SIDES):
            return parts_of(table_of(lists, str(place)), place, layout)
        if lists and all(isinstance(each, list) for each in lists.values()):
            return _named(
                (
                    PARTS.get(name, name),
                    parts_of(_table(_numbered(each, place), place), place, layout),
                )
                for name, each in lists.items()
            )
        raise WrongFile(place, "is a JSON object; expected a list of objects, or JSON lines")
    return parts_of(_table(_numbered(value, place), place), place, layout)


def _numbered(values: Any, place: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, value in enumerate(values, start=1):
        if not isinstance(value, dict):
            raise WrongFile(place, f"entry {number} of the list is no object")
        yield number, value


def _table(records: Iterable[tuple[int, dict[str, Any]]], place: Path) -> pa.Table:
    """Return JSON objects as a table; fields other than texts and lists of texts are left out."""
    columns: dict[str, list[Any]] = {}
    lines = list[int]()
    for number, record in records:
        for name in record:
            if name not in columns:
                columns[name] = [None] * len(lines)
        lines.append(number)
        for name, values in columns.items():
            values.append(record.get(name))
    arrays = dict[str, pa.Array]()
    for name, values in columns.items():
        has_lists = any(isinstance(value, list) for value in values)
        listed = (it.split() if has_lists and isinstance(it, str) else it for it in values)
        with contextlib.suppress(pa.ArrowException):
            arrays[name] = pa.array(listed)
    if not lines:
        raise WrongFile(place, f"has no pair; expected {READABLE}")
    return pa.table(arrays)


def table_of(values: Any, name: str) -> pa.Table:
    """Return pairs in memory as a table.

    Args:
        values: A table of PyArrow, pandas or `datasets`; columns by name; or an iterable of pairs
            or of objects by column.
        name: Name of the argument, for errors.

    Raises:
        WrongFile: it is no table of pairs.
    """
    if isinstance(values, pa.Table):
        return values
    if hasattr(values, "with_format"):  # of `datasets`
        return values.with_format("arrow")[:]
    try:
        if hasattr(values, "iloc") and hasattr(values, "columns"):  # of pandas
            return pa.Table.from_pandas(values, preserve_index=False)
        if isinstance(values, Mapping):
            return pa.table(dict(cast("Mapping[str, Any]", values)))
        rows = list(values)
        if not rows:
            raise WrongFile(name, "has no pair")
        if isinstance(values, set | frozenset) or any(isinstance(row, str) for row in rows):
            raise WrongFile(name, f"has {quote(rows[0])}; expected pairs of a source and a target")
        if isinstance(rows[0], Mapping):
            return _table(_numbered(rows, Path(name)), Path(name))
        source, target = (list(side) for side in zip(*rows, strict=True))
        return pa.table({"source": pa.array(source), "target": pa.array(target)})
    except (AttributeError, TypeError, ValueError, pa.ArrowException) as error:
        wanted = "expected pairs of a source and a target, or a table with two such columns"
        raise WrongFile(name, f"{in_one_line(str(error))}; {wanted}") from error


def _delimited(data: bytes, place: Path, layout: Layout) -> tuple[pa.Table, Path, Layout, int]:
    """Return the table of a TSV or CSV file, and the line of its first pair."""
    text = without_carriage_returns(data.removeprefix(BOM), place).rstrip(b"\n")
    _check_utf8(text, place)
    between = "," if place.suffix.lower() == ".csv" else "\t"
    quoted = layout.quotes == "yes" or (layout.quotes == "auto" and between == ",")
    head = text.partition(b"\n")[0].decode()
    if between not in head:
        name = "comma" if between == "," else "tab"
        problem = f"no {name} in {quote(head)}; expected {READABLE}, or two files SOURCES,TARGETS"
        raise WrongFile(place, problem, line=1)
    if not quoted and layout.quotes == "auto":
        _check_quotes(text, place)
    reader = csv.reader(
        io.StringIO(head),
        delimiter=between,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
    )
    names = next(reader)
    has_header = layout.header == "yes" or (layout.header == "auto" and _is_header(names, layout))
    if layout.header == "auto" and not has_header:
        _check_first(names, text, between, place)
    if not has_header:
        if layout.source or layout.target:
            missing = next(it for it in (layout.source, layout.target) if it and it not in names)
            raise WrongFile(place, f"no column {quote(missing)} in {quote(head)}", line=1)
        if len(names) != 2:
            problem = f"{len(names)} columns and no header in {quote(head)}"
            expected = "expected two, or a header with --source-column and --target-column"
            raise WrongFile(place, f"{problem}; {expected}", line=1)
        names = [*SIDES[0]]
    table = _cells(text, names, between, place, quoted=quoted, skip=int(has_header))
    return table, place, layout, 1 + int(has_header)


def _cells(
    text: bytes, names: list[str], between: str, place: Path, *, quoted: bool, skip: int
) -> pa.Table:
    """Return the cells of lines as a table of texts."""
    wrong = list[Any]()

    def note(row: Any) -> str:
        wrong.append(row)
        return "error"

    plain = pa_csv.ParseOptions(
        delimiter=between,
        quote_char='"' if quoted else False,
        newlines_in_values=quoted,
        ignore_empty_lines=False,
        invalid_row_handler=note,
    )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise WrongFile(place, f"two columns are named {quote(twice)}", line=1)
    try:
        return pa_csv.read_csv(
            pa.BufferReader(text + b"\n"),
            pa_csv.ReadOptions(use_threads=False, column_names=names, skip_rows=skip),
            plain,
            pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowException as error:
        if not wrong:
            reason = (str(error).splitlines() or ["unreadable"])[0]
            raise WrongFile(place, f"cannot be read: {reason}") from error
        row = wrong[0]
        found = "a blank line" if not row.text.strip() else f"{row.actual_columns} columns"
        problem = f"{found} in {quote(row.text)}; expected {row.expected_columns} columns"
        raise WrongFile(place, problem, line=row.number) from None


def _check_utf8(text: bytes, place: Path) -> None:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        problem = f"byte 0x{text[error.start]:02x} is not UTF-8; expected UTF-8 text"
        raise WrongFile(place, problem, line=line) from None


def _check_quotes(text: bytes, place: Path) -> None:
    """Refuse a TSV file whose quotes may be a part of the cells, or may enclose them."""
    found = re.search(rb'(?m)(?:^|\t)"[^\t\n]*"(?:\t|$)', text)
    if found is not None:
        line = text.count(b"\n", 0, found.start() + 1) + 1
        problem = f"a cell in double quotes, {quote(found[0].decode().strip())}"
        expected = "expected --quotes yes, which removes them, or --quotes no, which keeps them"
        raise WrongFile(place, f"{problem}; {expected}", line=line)


def _is_header(names: Sequence[str], layout: Layout) -> bool:
    """Whether cells are the names of the columns."""
    if layout.source or layout.target:
        return {layout.source, layout.target} - {""} <= set(names)
    return any(set(sides) <= {name.casefold() for name in names} for sides in SIDES)


def _check_first(names: Sequence[str], text: bytes, between: str, place: Path) -> None:
    """Refuse a first line of single words that no other line has: a header, or a pair."""
    if any(len(name.split()) != 1 for name in names):
        return
    some = text[:SAMPLE].partition(b"\n")[2].decode(errors="ignore")
    rest = set(some.replace(between, " ").split())
    if rest and rest.isdisjoint(name.strip() for name in names):
        problem = f"{quote(between.join(names))} may be a header: no other line has these words"
        expected = "expected --header yes with --source-column and --target-column, or --header no"
        raise WrongFile(place, f"{problem}; {expected}", line=1)


# Columns


def parts_of(table: pa.Table, place: Path | str, layout: Layout, first_line: int = 0) -> Parts:
    """Return the pairs of a table by part.

    Args:
        table: Columns of texts, or of lists of texts.
        place: The file, for errors.
        layout: The names of the columns, and what tokens are.
        first_line: Line of the first row; 0 where rows are no lines.

    Raises:
        WrongFile: a column is missing or has other values, or a source is empty.
    """
    found = _Rows(table, place, layout, first_line)
    source, target = found.names()
    examples = Examples(found.sequences(source, may_be_empty=False), found.sequences(target))
    split = layout.split or (SPLIT if SPLIT in table.column_names else "")
    if not split:
        return {"": examples}
    labels = found.labels(split)
    part = {label: PARTS.get(label.strip().casefold(), label.strip()) for label in {*labels}}
    names = np.array([part[label] for label in labels], dtype=object)
    wanted = dict.fromkeys(part[label] for label in labels)
    return {name: examples.take(np.flatnonzero(names == name)) for name in wanted}


@dataclass(frozen=True)
class _Rows:
    """The rows of a table, with their lines."""

    table: pa.Table
    place: Path | str
    layout: Layout
    first_line: int

    def names(self) -> tuple[str, str]:
        """Return the columns of sources and of targets."""
        known = {name.casefold(): name for name in self.table.column_names}
        if self.layout.source and self.layout.target:
            wanted = (self.layout.source, self.layout.target)
        else:
            wanted = next((sides for sides in SIDES if set(sides) <= known.keys()), SIDES[0])
            wanted = self.layout.source or wanted[0], self.layout.target or wanted[1]
        for name in wanted:
            if name.casefold() not in known:
                columns = ", ".join(map(quote, self.table.column_names[:20]))
                problem = f"has no column {quote(name)}; it has {columns or 'none'}"
                advice = "expected --source-column and --target-column with two of them"
                raise WrongFile(self.place, f"{problem}; {advice}")
        first, second = (
            name if name in known.values() else known[name.casefold()] for name in wanted
        )
        return first, second

    def labels(self, column: str) -> list[str]:
        """Return the part of each row."""
        if column not in self.table.column_names:
            raise WrongFile(self.place, f"has no column {quote(column)}")
        values = self.table.column(column)
        with contextlib.suppress(pa.ArrowException):
            values = values.cast(pa.string())
        if not pa.types.is_string(values.type) or values.null_count:
            raise WrongFile(self.place, f"column {quote(column)} is no text in each row")
        labels: list[str] = values.to_pylist()
        for row, label in enumerate(labels):
            if not label.strip():
                raise self._wrong(row, f"nothing in column {quote(column)}; expected a part's name")
        return labels

    def sequences(self, column: str, *, may_be_empty: bool = True) -> Sequences:
        """Return a column as sequences of tokens."""
        array = _decoded(self.table.column(column).combine_chunks())
        if array.null_count:
            row = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
            raise self._wrong(row, f"nothing in column {quote(column)}")
        if pa.types.is_string(array.type):
            array = _characters(array) if self.layout.tokens == "characters" else _words(array)
        elif not (pa.types.is_list(array.type) and pa.types.is_string(array.type.value_type)):
            problem = f"column {quote(column)} is {array.type}; expected texts or lists of texts"
            raise WrongFile(self.place, problem)
        elif array.flatten().null_count:
            nulls = [row for row, tokens in enumerate(array.to_pylist()) if None in tokens]
            raise self._wrong(nulls[0], f"a null among the tokens of column {quote(column)}")
        found = parquet.sequences(Path(self.place), pa.table({column: array}), column)
        self._check_tokens(found, column)
        empty = np.flatnonzero(found.lengths == 0)
        if len(empty) and not may_be_empty:
            raise self._wrong(int(empty[0]), f"no token in column {quote(column)}")
        return found

    def _check_tokens(self, found: Sequences, column: str) -> None:
        """Refuse tokens that cannot be printed, and empty ones."""
        for code, symbol in enumerate(found.symbols):
            if symbol and symbol.isprintable():
                continue
            at = int(np.flatnonzero(found.codes == code)[0])
            row = int(np.searchsorted(found.offsets, at, side="right")) - 1
            kind = "unprintable" if symbol else "empty"
            raise self._wrong(row, f"{kind} token {quote(symbol)} in column {quote(column)}")

    def _wrong(self, row: int, problem: str) -> WrongFile:
        if self.first_line:
            return WrongFile(self.place, problem, line=row + self.first_line)
        return WrongFile(self.place, f"row {row + 1}: {problem}")


def _decoded(array: Any) -> Any:
    """Return an array without dictionaries and without large types."""
    kind = array.type
    if pa.types.is_dictionary(kind) or pa.types.is_large_string(kind):
        return array.cast(pa.string())
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        value = kind.value_type
        value = value.value_type if pa.types.is_dictionary(value) else value
        if pa.types.is_string(value) or pa.types.is_large_string(value):
            return array.cast(pa.list_(pa.string()))
    return array


def _words(array: Any) -> Any:
    """Return texts as lists of words, divided at white space."""
    lists = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(array))  # pyright: ignore
    words, lengths = lists.flatten(), lists.value_lengths().to_numpy()
    blank = pc.equal(words, "").to_numpy(zero_copy_only=False)  # pyright: ignore
    if blank.any():  # a text without words is split into one empty word
        ends = np.cumsum(lengths)
        none = np.zeros(len(lengths), bool)
        none[np.searchsorted(ends, np.flatnonzero(blank), side="right")] = True
        lengths, words = np.where(none, 0, lengths), words.filter(pa.array(~blank))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), words)


def _characters(array: Any) -> Any:
    return pa.array((list(text) for text in array.to_pylist()), pa.list_(pa.string()))
