"""Pairs in files of other programs: tables, lines, JSON, and folders of these.

The formats of this room are strict, and each is what `daxy export` writes. Files of other programs
have headers, quotes, a byte order mark, other names of columns. `read` takes all of these, and
refuses what can be read in two ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from daxy.core import json_objects
from daxy.core.errors import WrongFile
from daxy.core.examples import Examples
from daxy.core.files import read_bytes
from daxy.core.kinds import HEAD, kind_of
from daxy.formats import _delimited, _tables, jsonl, pairs, parallel, parquet
from daxy.formats.columns import parts_of
from daxy.formats.layout import SHARD, SIDES, STDIN, Layout, Parts, Rows, part_name, part_of

SUFFIXES = (".tsv", ".csv", ".txt", ".jsonl", ".json", ".parquet", ".arrow", ".src")
"""Suffixes of files in a folder that are read; `.trg` is read with `.src`."""
NOT_DATA = ("provenance.json", "dataset_info.json", "dataset_infos.json", "state.json")
READABLE = (
    "pairs as TSV, CSV, JSON, Parquet or Arrow, lines `IN: ... OUT: ...`, or two files"
    " SOURCES,TARGETS"
)


def read(path: Path, layout: Layout) -> Parts:
    """Return the pairs of a file, of two files `SOURCES,TARGETS`, or of a folder, part by part.

    Raises:
        WrongFile: a file cannot be read, has a wrong line, or can be read in two ways.
    """
    if path.is_dir():
        return _folder(path, layout)
    if "," in str(path) and not path.exists():
        return _two_files(path, layout)
    if path.suffix in parallel.SUFFIXES:
        return {"": layout.accept(parallel.read(path), Rows(path, 1))}
    if path.suffix == ".arrow":
        return parts_of(_tables.of_arrow([path]), path, layout)
    if path.suffix == ".parquet" and path.is_file():
        return parts_of(parquet.load(path, ()), path, layout)
    return _content(read_bytes(Path("/dev/stdin") if path == STDIN else path), path, layout)


def of_values(values: Any, name: str, layout: Layout) -> Parts:
    """Return the pairs of a table, of columns or of a list in memory, part by part.

    Args:
        values: A table of PyArrow, pandas or `datasets`; columns by name; or an iterable of pairs
            or of objects by column.
        name: Name of the argument, for errors.
        layout: Names of the columns, and the form of tokens.

    Raises:
        WrongFile: it is no table of pairs, or a row is wrong.
    """
    return parts_of(_tables.of_values(values, name), name, layout)


def _content(data: bytes, path: Path, layout: Layout) -> Parts:
    """Return the parts in the bytes of a file, by their kind."""
    kind = kind_of(data[:HEAD])
    name = "" if kind is None else kind.name
    if name == "parquet":
        parquet.FORMAT.parse(data, path)  # says that it cannot be read from a pipe
    if name == "scan-text" or data.startswith(b"<s> "):
        parts = pairs.parsed(data, path).parts
        return {part: layout.accept(examples, Rows(path, 1)) for part, examples in parts.items()}
    is_one_line = b"\n" not in data.strip()
    is_lines = name == "json-lines" or (name == "json" and path.suffix == ".jsonl")
    if is_lines and not (is_one_line and path.suffix == ".json"):
        records = _tables.of_records(jsonl.objects_in(data, path), path)
        return parts_of(records, path, layout, 1)
    if is_lines or name in ("json", "json-array"):
        return _json(data, path, layout)
    if kind is not None:
        advice = f"; {kind.advice}" if kind.advice else ""
        noun = "the file is empty" if name == "empty" else f"is {kind.noun}"
        raise WrongFile(path, f"{noun}; expected {READABLE}{advice}")
    table, first_line = _delimited.table_of(data, path, layout, READABLE)
    return parts_of(table, path, layout, first_line)


def _json(data: bytes, path: Path, layout: Layout) -> Parts:
    """Return the parts of one JSON value: objects, columns by name, or objects by part."""

    def objects(values: Any) -> Parts:
        return parts_of(_tables.of_records(_tables.numbered(values, path), path), path, layout)

    value = json_objects.decode_file(data.removeprefix(_delimited.BOM), path)
    if not isinstance(value, Mapping):
        return objects(value)
    lists = cast("Mapping[str, Any]", value)
    if not lists or not all(isinstance(entries, list) for entries in lists.values()):
        raise WrongFile(path, "is a JSON object; expected a list of objects, or JSON lines")
    if any({*sides} <= lists.keys() for sides in (*SIDES, layout.named or ("",))):
        return of_values(lists, str(path), layout)
    return _joined((part_of(name), objects(entries)) for name, entries in lists.items())


def _two_files(path: Path, layout: Layout) -> Parts:
    paths = [Path(name) for name in str(path).split(",")]
    if len(paths) != 2:
        raise WrongFile(path, "no such file; expected one file, or SOURCES,TARGETS")
    sources, targets = (read_bytes(side, parallel.EXPECTED) for side in paths)
    examples = Examples.of(parallel.parse(sources, targets, (paths[0], paths[1])))
    return {"": layout.accept(examples, Rows(paths[1], 1))}


def _folder(folder: Path, layout: Layout) -> Parts:
    """Return the parts of a folder: of `datasets.save_to_disk`, or with a file a part."""
    saved = sorted(folder.glob("*/state.json")) or sorted(folder.glob("state.json"))
    if saved:
        tables = {it.parent: _tables.of_arrow(sorted(it.parent.glob("*.arrow"))) for it in saved}
        return _joined((part_of(at.name), parts_of(it, at, layout)) for at, it in tables.items())
    inner = folder / "data" if (folder / "data").is_dir() else folder
    files = [path for path in sorted(inner.iterdir()) if _is_data(path)]
    if not files:
        raise WrongFile(folder, "is a folder without pairs; expected a file a part, as train.tsv")
    single = [part_name(path) for path in files if not SHARD.search(path.stem)]
    for name in single:
        if single.count(name) > 1:
            both = ", ".join(path.name for path in files if part_name(path) == name)
            raise WrongFile(folder, f"has several files of {name}: {both}; expected one")
    return _joined((part_name(path), read(path, layout)) for path in files)


def _is_data(path: Path) -> bool:
    is_hidden = path.name.startswith((".", "_"))
    return path.suffix in SUFFIXES and path.name not in NOT_DATA and not is_hidden


def _joined(files: Iterable[tuple[str, Parts]]) -> Parts:
    """Return the parts of several files, each under the name of its file; shards are joined."""
    shards: dict[str, list[Examples]] = {}
    for name, parts in files:
        for part, examples in parts.items():
            shards.setdefault(part or name, []).append(examples)
    return {name: Examples.joined(parts) for name, parts in shards.items()}
