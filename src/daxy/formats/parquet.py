"""Parquet: one row an example, dictionary encoded, with the split's provenance as metadata.

Columns: `split` (train, validation or test, or the name of one of several tests), `key`, `source`,
`target`; the latter two are lists of strings. Examples with worlds have the columns of
`daxy.worlds.arrow` too. Any Parquet reader opens them. Each part has row groups of its
own, so that one can be read without the others.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from daxy.core.conversions import to_arrow
from daxy.core.errors import UnknownName, WrongFile, in_one_line, quote
from daxy.core.examples import Examples, Sequences
from daxy.core.files import other_kind, write_atomically
from daxy.core.json_objects import NotJSON, decode
from daxy.core.kinds import HEAD, check_kind
from daxy.core.split import Provenance
from daxy.formats import _parquet_footer, _world_columns
from daxy.formats._format import Format, Parts
from daxy.worlds.arrow import NAMES

METADATA = b"daxy"
READING: dict[str, Any] = {"page_checksum_verification": True}
ROWS = 1 << 16
"""Rows of a written group."""
MOST_VALUES = 1 << 27
"""Maximum rows, and values of a column, of a file."""
MOST_BYTES = 1 << 30
"""Maximum bytes of the text of a column: 1 GiB."""
WORDS = ["source.list.element", "target.list.element", *_world_columns.WORDS]
"""Columns with few distinct words, which are read as codes."""


class Stored(Mapping[str, Examples]):
    """The parts of a file of `write`, each read on access."""

    def __init__(self, path: Path | str) -> None:
        """Open a file and read its footer.

        Raises:
            WrongFile: the file is missing, no Parquet, lacks a column or mixes parts.
        """
        self.path = path = Path(path)
        with _refusing(path):
            self._file = pq.ParquetFile(path, read_dictionary=_texts(path), **READING)
            groups = _parquet_footer.groups(path)
        _check_columns(path, self._file.schema_arrow.names, ("split", "source", "target"))
        self._groups: dict[str, list[int]] = {}
        self._counts: dict[str, int] = {}
        for place, group in enumerate(groups):
            if not group.rows:
                continue
            name = group.columns["split"].only if "split" in group.columns else None
            if name is None:
                raise WrongFile(path, "mixes its parts; `read` reads it, all at once")
            self._groups.setdefault(name, []).append(place)
            self._counts[name] = self._counts.get(name, 0) + group.rows

    @property
    def provenance(self) -> dict[str, Any]:
        """The provenance in the file's metadata; empty without any."""
        return provenance(self.path)

    @property
    def counts(self) -> Mapping[str, int]:
        """Number of examples of each part."""
        return MappingProxyType(self._counts)

    def __getitem__(self, name: str) -> Examples:
        if name not in self._groups:
            raise UnknownName("part", name, self._groups)
        with _refusing(self.path):
            columns = [each for each in self._file.schema_arrow.names if each != "key"]
            table = _read(self.path, self._file, self._groups[name], columns)
        return examples_of(self.path, table)

    def __iter__(self) -> Iterator[str]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)


def provenance(path: Path) -> dict[str, Any]:
    """Return the provenance in a file's metadata; empty without any.

    Raises:
        WrongFile: the file is missing or no Parquet.
    """
    with _refusing(path):
        value = decode((pq.read_schema(path).metadata or {}).get(METADATA, b"{}"))
    if not isinstance(value, dict):
        raise WrongFile(path, f"its metadata are {quote(value)}; expected an object")
    return value


def columns(path: Path) -> list[str]:
    """Return the names of a file's columns.

    Raises:
        WrongFile: the file is missing or no Parquet.
    """
    with _refusing(path):
        return pq.read_schema(path).names


def save(path: Path, table: pa.Table) -> None:
    """Write a table atomically."""
    write_atomically(
        path, lambda temporary: pq.write_table(table, temporary, write_page_checksum=True)
    )


def load(path: Path, columns: tuple[str, ...], *, alone: bool = False) -> pa.Table:
    """Return a table with at least these columns; with `alone`, with these only, which is faster.

    Raises:
        WrongFile: the file is missing, no Parquet, lacks one of them, or has a column twice.
    """
    with _refusing(path), pq.ParquetFile(path, read_dictionary=_texts(path), **READING) as file:
        _check_columns(path, file.schema_arrow.names, columns)
        groups = range(file.metadata.num_row_groups)
        return _read(path, file, groups, list(columns) if alone else None)


def _check_columns(path: Path, names: Sequence[str], wanted: Sequence[str]) -> None:
    for column in wanted:
        if column not in names:
            raise WrongFile(path, f"has no column {quote(column)}; it has {_listed(names)}")
    for column, count in Counter(names).items():
        if count > 1:
            raise WrongFile(path, f"has {count} columns {quote(column)}; expected one")


def _read(
    path: Path,
    file: pq.ParquetFile,
    groups: Iterable[int],
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """Return groups of rows, read one by one: PyArrow reads codes within lists from one group only.

    Text is read as codes, so that repeats take no memory, and decoded within the limit.
    """
    _check_counts(path)
    parts, sizes = list[pa.Table](), Counter[str]()
    for group in groups:
        rows = file.read_row_group(group, columns=columns)
        parts.append(_checked(path, rows, _first_row(file, group)))
        for name in parts[-1].column_names:
            sizes[name] += sum(map(_text_bytes, parts[-1].column(name).chunks))
            if sizes[name] > MOST_BYTES:
                problem = f"column {quote(name)} has more than {MOST_BYTES:,} bytes of text"
                raise WrongFile(path, f"{problem}; at most that many are read")
    empty = file.schema_arrow.empty_table()
    none = empty if columns is None else empty.select(columns)
    return _decoded(pa.concat_tables(parts) if parts else none, pq.read_schema(path))


def _check_counts(path: Path) -> None:
    counts = Counter[str]()
    for group in _parquet_footer.groups(path):
        counts["rows"] += group.rows
        for name, column in group.columns.items():
            counts[f"values in {quote(name)}"] += column.values
    for name, count in counts.items():
        if count > MOST_VALUES:
            problem = f"has {count:,} {name}; at most {MOST_VALUES:,} are read"
            raise WrongFile(path, problem)


def _text_bytes(array: Any) -> int:
    """Return the bytes of an array's text after decoding its codes."""
    if pa.types.is_list(array.type):
        return _text_bytes(array.flatten())
    if pa.types.is_struct(array.type):
        return sum(map(_text_bytes, array.flatten()))
    if not pa.types.is_dictionary(array.type):
        return 0
    words = array.dictionary.to_pylist()
    sizes = (
        len(word if isinstance(word, bytes) else word.encode()) if word else 0 for word in words
    )
    lengths = np.fromiter(sizes, np.int64, len(words))
    return int(lengths[array.indices.drop_null().to_numpy()].sum())


def _decoded(table: pa.Table, plain: pa.Schema) -> pa.Table:
    """Return a table with decoded text, except in columns with few distinct words."""
    few = {each.split(".")[0] for each in WORDS}
    for place, field in enumerate(table.schema):
        wanted = plain.field(field.name).type
        is_few = field.name in few and not pa.types.is_dictionary(field.type)
        if not is_few and field.type != wanted:
            table = table.set_column(place, field.name, table.column(place).cast(wanted))
    return table


def _first_row(file: pq.ParquetFile, group: int) -> int:
    return 1 + sum(file.metadata.row_group(before).num_rows for before in range(group))


def _checked(path: Path, table: pa.Table, first: int) -> pa.Table:
    """Refuse a group of rows with text that is not UTF-8; name the column and row, from 1."""
    try:
        table.validate(full=True)
    except pa.ArrowException:
        for name in table.column_names:
            for row, value in enumerate(table.column(name), first):
                try:
                    value.as_py()
                except UnicodeDecodeError as error:
                    byte = f"byte 0x{error.object[error.start]:02x}"
                    problem = f"row {row} of column {quote(name)}: {byte} is not UTF-8"
                    raise WrongFile(path, problem) from None
        raise
    return table


def numbers(path: Path, table: pa.Table, column: str) -> NDArray[Any]:
    """Return a column of a file's table as numbers or Booleans.

    Raises:
        WrongFile: it has other values.
    """
    array = table.column(column)
    fits = pa.types.is_boolean(array.type) or pa.types.is_floating(array.type)
    values = array.to_numpy() if fits and not array.null_count else np.array([np.nan])
    if not np.isfinite(values).all():
        kind = f"{array.type} with {array.null_count:,} nulls"
        raise WrongFile(path, f"column {quote(column)} is {kind}; expected finite numbers")
    return values


def _table(name: str, examples: Examples) -> pa.Table:
    return to_arrow(examples).add_column(0, "split", pa.array([name] * len(examples), pa.string()))


def examples_of(path: Path, table: pa.Table) -> Examples:
    """Return the examples of a file's table.

    Raises:
        WrongFile: a column has other values.
    """
    source, target = (sequences(path, table, column) for column in ("source", "target"))
    has_worlds = not set(NAMES).isdisjoint(table.column_names)
    return Examples(source, target, _world_columns.read(path, table) if has_worlds else None)


def sequences(path: Path, table: pa.Table, column: str) -> Sequences:
    """Return a column of a file's table as sequences.

    Raises:
        WrongFile: it has other values than lists of strings, or too many distinct tokens.
    """
    array = _plain(table.column(column).unify_dictionaries().combine_chunks())
    kind = array.type
    if pa.types.is_list(kind) and pa.types.is_dictionary(kind.value_type):
        kind = pa.list_(kind.value_field.with_type(kind.value_type.value_type))
    listed = pa.types.is_list(kind) and pa.types.is_string(kind.value_type)
    if not listed or array.null_count or array.flatten().null_count:
        problem = f"column {quote(column)} is {kind}; expected lists of strings without nulls"
        raise WrongFile(path, problem)
    flat = array.flatten()
    values = flat if pa.types.is_dictionary(flat.type) else flat.dictionary_encode()
    names = values.dictionary.to_pylist()
    if len(names) > 1 << 16:
        raise WrongFile(path, f"column {quote(column)} has more than 65,536 distinct tokens")
    order = np.argsort(np.array(names, dtype=object))
    code = np.empty(len(names), np.uint16)
    code[order] = np.arange(len(names))
    lengths = array.value_lengths().to_numpy()
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    codes = code[values.indices.to_numpy()]
    return Sequences(tuple(names[row] for row in order), codes, offsets)


def _texts(path: Path) -> list[str]:
    schema = pq.read_metadata(path).schema
    columns = map(schema.column, range(len(schema)))
    return [
        each.path
        for each in columns
        if each.physical_type == "BYTE_ARRAY" and each.logical_type.type in ("STRING", "NONE")
    ]


def _plain(array: Any) -> Any:
    """Return an array of large lists of strings as plain lists; other arrays unchanged."""
    kind = array.type
    large = pa.types.is_large_list(kind) or (
        pa.types.is_list(kind) and pa.types.is_large_string(kind.value_type)
    )
    if large:
        with contextlib.suppress(pa.ArrowException):
            return array.cast(pa.list_(pa.string()))
    return array


@contextlib.contextmanager
def _refusing(path: Path) -> Generator[None, None, None]:
    if not path.is_file():
        kind = other_kind(path)
        problem = f"is {kind}; expected a Parquet file" if kind else "no such file"
        raise WrongFile(path, problem)
    try:
        yield
    except NotJSON as error:
        raise WrongFile(path, f"its metadata are wrong: {error}") from error
    except (OSError, ValueError, pa.ArrowException) as error:
        with contextlib.suppress(OSError), path.open("rb") as file:
            check_kind(file.read(HEAD), path, "a Parquet file", reads=("parquet",))
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise WrongFile(path, f"cannot be read as Parquet: {in_one_line(reason)}") from error


def _listed(names: Sequence[str]) -> str:
    return ", ".join(quote(name, most=60) for name in names[:20]) or "none"


@final
class Parquet(Format):
    """Parquet; see the head of this file."""

    name = "parquet"
    suffix = ".parquet"
    has_parts = True
    has_worlds = True

    def write(self, path: Path, parts: Parts, provenance: Provenance) -> None:
        """Write the parts one after another, each row with the name of its part."""
        about = {METADATA: json.dumps(dataclasses.asdict(provenance))}

        def fill(temporary: Path) -> None:
            tables = (
                _table(name, examples[first : first + ROWS]).replace_schema_metadata(about)
                for name, examples in parts.items()
                for first in range(0, max(1, len(examples)), ROWS)
            )
            table = next(tables)
            with pq.ParquetWriter(temporary, table.schema, write_page_checksum=True) as file:
                for each in itertools.chain([table], tables):
                    file.write_table(each)

        write_atomically(path, fill)

    def read(self, path: Path) -> Parts:
        """Return the parts of a file in its order.

        Raises:
            WrongFile: the file is missing, no Parquet or lacks a column.
        """
        table = load(path, ("split", "source", "target"))
        names = np.array(table.column("split").to_pylist(), dtype=object)
        if table.column("split").null_count:
            raise WrongFile(path, "column 'split' has nulls")
        examples = examples_of(path, table)
        in_order = dict.fromkeys(names)
        return {str(name): examples.take(np.flatnonzero(names == name)) for name in in_order}


FORMAT = Parquet()
read, write = FORMAT.read, FORMAT.write
