"""Pairs in the columns of a table: texts or lists of texts, as other programs write them."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from daxy.core.errors import WrongFile, quote
from daxy.core.examples import Examples, Sequences
from daxy.formats import parquet
from daxy.formats.layout import SIDES, Layout, Parts, Rows, part_of
from daxy.worlds.arrow import NAMES as WORLD_COLUMNS

SPLIT = "split"
WORLDS = frozenset({"world", *WORLD_COLUMNS})
"""Columns of a file with worlds, as daxy writes it."""


def parts_of(table: pa.Table, path: Path | str, layout: Layout, first_line: int = 0) -> Parts:
    """Return the pairs of a table by part.

    Args:
        table: Columns of texts, or of lists of texts.
        path: The file, for errors.
        layout: Names of the columns, and the form of tokens.
        first_line: Line of the first row; 0 where rows are no lines.

    Raises:
        WrongFile: a column is missing or has other values, a source is empty, or there are worlds.
    """
    if worlds := sorted(WORLDS & {*table.column_names}):
        problem = f"has worlds (column {quote(worlds[0])}), which pairs do not have"
        raise WrongFile(path, f"{problem}; expected a task of gSCAN, or a file without them")
    places = Rows(path, first_line)
    rows = _Rows(table, path, layout, places)
    source, target = rows.sides()
    examples = Examples(rows.sequences(source, may_be_empty=False), rows.sequences(target))
    examples = layout.accept(examples, places)
    split = layout.split_column or (SPLIT if SPLIT in table.column_names else "")
    if not split:
        return {"": examples}
    labels = rows.labels(split)
    parts = np.array([part_of(label) for label in labels], dtype=object)
    return {name: examples.take(np.flatnonzero(parts == name)) for name in dict.fromkeys(parts)}


@dataclass(frozen=True)
class _Rows:
    """The rows of a table, with their lines."""

    table: pa.Table
    path: Path | str
    layout: Layout
    places: Rows

    def sides(self) -> tuple[str, str]:
        """Return the columns of sources and of targets; case does not count in known names."""
        exact = {name: name for name in self.table.column_names}
        names = {name.casefold(): name for name in exact} | exact
        known = next((sides for sides in SIDES if {*sides} <= names.keys()), SIDES[0])
        source = self.layout.source_column or known[0]
        target = self.layout.target_column or known[1]
        for name in (source, target):
            if name not in names:
                columns = ", ".join(map(quote, [*exact][:20]))
                problem = f"has no column {quote(name)}; it has {columns or 'none'}"
                advice = "expected --source-column and --target-column with two of them"
                raise WrongFile(self.path, f"{problem}; {advice}")
        return names[source], names[target]

    def labels(self, column: str) -> list[str]:
        """Return the name of each row's part, as it is written."""
        if column not in self.table.column_names:
            raise WrongFile(self.path, f"has no column {quote(column)}")
        values = self.table.column(column)
        with contextlib.suppress(pa.ArrowException):
            values = values.cast(pa.string())
        if not pa.types.is_string(values.type):
            raise WrongFile(self.path, f"column {quote(column)} is {values.type}; expected texts")
        labels = [(label or "").strip() for label in values.to_pylist()]
        if "" in labels:
            problem = f"nothing in column {quote(column)}; expected the name of a part"
            raise self.places.wrong(labels.index(""), problem)
        return labels

    def sequences(self, column: str, *, may_be_empty: bool = True) -> Sequences:
        """Return a column as sequences of tokens."""
        array = _plain(self.table.column(column).combine_chunks())
        if array.null_count:
            row = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
            raise self.places.wrong(row, f"nothing in column {quote(column)}")
        if pa.types.is_string(array.type):
            array = _characters(array) if self.layout.tokens == "characters" else _words(array)
        elif not (pa.types.is_list(array.type) and pa.types.is_string(array.type.value_type)):
            problem = f"column {quote(column)} is {array.type}; expected texts or lists of texts"
            raise WrongFile(self.path, problem)
        elif array.flatten().null_count:
            row = next(row for row, tokens in enumerate(array.to_pylist()) if None in tokens)
            raise self.places.wrong(row, f"a null among the tokens of column {quote(column)}")
        sequences = parquet.sequences(Path(self.path), pa.table({column: array}), column)
        self._check_tokens(sequences, column)
        empty = np.flatnonzero(sequences.lengths == 0)
        if len(empty) and not may_be_empty:
            raise self.places.wrong(int(empty[0]), f"no token in column {quote(column)}")
        return sequences

    def _check_tokens(self, sequences: Sequences, column: str) -> None:
        """Refuse empty tokens, and tokens that cannot be printed."""
        for code, symbol in enumerate(sequences.symbols):
            if symbol and symbol.isprintable():
                continue
            first = int(np.flatnonzero(sequences.codes == code)[0])
            row = int(np.searchsorted(sequences.offsets, first, side="right")) - 1
            kind = "unprintable" if symbol else "empty"
            raise self.places.wrong(row, f"{kind} token {quote(symbol)} in column {quote(column)}")


def _plain(array: Any) -> Any:
    """Return texts, or lists of texts, without dictionaries and large types."""
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
        is_empty = np.zeros(len(lengths), bool)
        is_empty[np.searchsorted(np.cumsum(lengths), np.flatnonzero(blank), side="right")] = True
        lengths, words = np.where(is_empty, 0, lengths), words.filter(pa.array(~blank))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), words)


def _characters(array: Any) -> Any:
    return pa.array((list(text) for text in array.to_pylist()), pa.list_(pa.string()))
