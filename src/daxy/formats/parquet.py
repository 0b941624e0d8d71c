"""Parquet: one row an example, dictionary encoded, with the split's provenance as metadata.

Columns: `split` (train, validation or test), `key`, `source`, `target`; the latter two are lists of
strings. Any Parquet reader opens them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Generator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from daxy.core.errors import WrongFile
from daxy.core.examples import Examples, Sequences
from daxy.core.files import write_atomically
from daxy.core.split import Provenance

METADATA = b"daxy"


def write(path: Path, parts: Mapping[str, Examples], provenance: Provenance) -> None:
    """Write the parts one after another, each row with the name of its part.

    Raises:
        RunFailed: the file cannot be written.
    """
    tables = [_table(name, examples) for name, examples in parts.items()]
    about = json.dumps(dataclasses.asdict(provenance))
    table = pa.concat_tables(tables).replace_schema_metadata({METADATA: about})
    save(path, table)


def read(path: Path) -> dict[str, Examples]:
    """Return the parts of a file by name, in its order.

    Raises:
        WrongFile: the file is missing, no Parquet, or has not these columns.
    """
    table = load(path, ("split", "source", "target"))
    names = np.array(table.column("split").to_pylist(), dtype=object)
    examples = Examples(*(_sequences(path, table, column) for column in ("source", "target")))
    in_order = dict.fromkeys(names)
    return {str(name): examples.take(np.flatnonzero(names == name)) for name in in_order}


def provenance(path: Path) -> dict[str, object]:
    """Return what a file says about where it came from; nothing if it says nothing.

    Raises:
        WrongFile: the file is missing or no Parquet.
    """
    with _refusing(path):
        return json.loads((pq.read_schema(path).metadata or {}).get(METADATA, b"{}"))


def save(path: Path, table: pa.Table) -> None:
    """Write a table atomically."""
    write_atomically(path, lambda temporary: pq.write_table(table, temporary))


def load(path: Path, columns: tuple[str, ...]) -> pa.Table:
    """Return a table that has at least these columns.

    Raises:
        WrongFile: the file is missing, no Parquet, or lacks one of them.
    """
    with _refusing(path):
        table = pq.read_table(path)
    for column in columns:
        if column not in table.column_names:
            raise WrongFile(path, f"has no column {column!r}; it has {_listed(table.column_names)}")
    return table


def tokens(sequences: Sequences) -> pa.Array:
    """Return sequences as an Arrow array of lists of strings."""
    symbols = pa.array(sequences.symbols, pa.string())
    values = pa.DictionaryArray.from_arrays(pa.array(sequences.codes), symbols)
    offsets = pa.array(sequences.offsets.astype(np.int32))
    return pa.ListArray.from_arrays(offsets, values.cast(pa.string()))


def _table(name: str, examples: Examples) -> pa.Table:
    columns = {
        "split": pa.array([name] * len(examples), pa.string()),
        "key": pa.array(examples.keys, pa.string()),
        "source": tokens(examples.source),
        "target": tokens(examples.target),
    }
    return pa.table(columns)


def _sequences(path: Path, table: pa.Table, column: str) -> Sequences:
    array = table.column(column).combine_chunks()
    listed = pa.types.is_list(array.type) and pa.types.is_string(array.type.value_type)
    if not listed or array.null_count or array.flatten().null_count:
        problem = f"column {column!r} is {array.type}; expected lists of strings without nulls"
        raise WrongFile(path, problem)
    values = array.flatten().dictionary_encode()
    names = values.dictionary.to_pylist()
    order = np.argsort(np.array(names, dtype=object))
    code = np.empty(len(names), np.uint16)
    code[order] = np.arange(len(names))
    lengths = array.value_lengths().to_numpy()
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    codes = code[values.indices.to_numpy()]
    return Sequences(tuple(names[row] for row in order), codes, offsets)


@contextlib.contextmanager
def _refusing(path: Path) -> Generator[None, None, None]:
    """Turn what can go wrong while reading into a `WrongFile`."""
    if not path.is_file():
        problem = "is a folder; expected a Parquet file" if path.is_dir() else "no such file"
        raise WrongFile(path, problem)
    try:
        yield
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise WrongFile(path, f"cannot be read as Parquet: {reason}") from error


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
