"""Tables from values in memory, from JSON objects, and from Arrow files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.ipc as pa_ipc

from daxy.core.errors import WrongFile, in_one_line, quote
from daxy.core.files import read_bytes

PAIRS = "expected pairs of a source and a target, or a table with two such columns"


def of_values(values: Any, name: str) -> pa.Table:
    """Return pairs in memory as a table; see `daxy.formats.foreign.of_values`."""
    if isinstance(values, pa.Table):
        return values
    if hasattr(values, "with_format"):  # of `datasets`
        return values.with_format("arrow")[:]
    try:
        if hasattr(values, "iloc") and hasattr(values, "columns"):  # of pandas
            return pa.Table.from_pandas(values, preserve_index=False)
        if isinstance(values, Mapping):
            return pa.table(dict(cast("Mapping[str, Any]", values)))
        return _of_rows(values, name)
    except (AttributeError, TypeError, ValueError, pa.ArrowException) as error:
        raise WrongFile(name, f"{in_one_line(str(error))}; {PAIRS}") from error


def _of_rows(values: Iterable[Any], name: str) -> pa.Table:
    rows = list(values)
    if not rows:
        raise WrongFile(name, "has no pair")
    if isinstance(values, set | frozenset):
        raise WrongFile(name, f"is a set, which has no order; {PAIRS}")
    if any(isinstance(row, str) for row in rows):
        raise WrongFile(name, f"has the text {quote(rows[0])}; {PAIRS}")
    if isinstance(rows[0], Mapping):
        return of_records(numbered(rows, name), name)
    source, target = (list(side) for side in zip(*rows, strict=True))
    return pa.table({"source": pa.array(source), "target": pa.array(target)})


def numbered(values: Iterable[Any], path: Path | str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a list with their numbers, from 1.

    Raises:
        WrongFile: an entry is no object.
    """
    for number, value in enumerate(values, start=1):
        if not isinstance(value, dict):
            raise WrongFile(path, f"entry {number} of the list is no object")
        yield number, value


def of_records(records: Iterable[tuple[int, dict[str, Any]]], path: Path | str) -> pa.Table:
    """Return JSON objects as a table, without fields of several kinds.

    Args:
        records: The objects, with their lines or numbers.
        path: The file, for errors.

    Raises:
        WrongFile: there is no object, or a field has texts and lists.
    """
    numbers, columns = list[int](), dict[str, list[Any]]()
    for number, record in records:
        for name in record:
            columns.setdefault(name, [None] * len(numbers))
        numbers.append(number)
        for name, values in columns.items():
            values.append(record.get(name))
    if not numbers:
        raise WrongFile(path, "has no pair")
    arrays = dict[str, pa.Array]()
    for name, values in columns.items():
        kinds = [type(value) for value in values if value is not None]
        if {*kinds} == {str, list}:
            row = next(row for row, value in enumerate(values) if type(value) is not kinds[0])
            problem = f"{quote(name)} is a {type(values[row]).__name__}, and a {kinds[0].__name__}"
            expected = "expected texts, or lists of tokens, throughout"
            raise WrongFile(path, f"{problem} before; {expected}", line=numbers[row])
        with contextlib.suppress(pa.ArrowException):
            arrays[name] = pa.array(values)
    return pa.table(arrays)


def of_arrow(paths: Sequence[Path]) -> pa.Table:
    """Return the table in Arrow files, as `datasets` and pandas write them.

    Raises:
        WrongFile: a file cannot be read.
    """
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
    return pa.concat_tables(tables).combine_chunks()
