"""Worlds from columns of an Arrow table; see `daxy.worlds.arrow`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from daxy.core.errors import WrongFile, quote
from daxy.languages.grounded import COLORS, SHAPES, SIZES
from daxy.worlds.columns import Worlds
from daxy.worlds.grid import HEADINGS

WORDS = ("heading", "things.list.element.shape", "things.list.element.color")
"""Columns with few distinct words."""


def read(path: Path, table: pa.Table) -> Worlds:
    """Return the worlds of a table with these columns.

    Raises:
        WrongFile: a value is missing or wrong; names the row, from 1.
    """
    things = _column(path, table, "things")
    if not pa.types.is_list(things.type) or not pa.types.is_struct(things.type.value_type):
        raise WrongFile(path, f"column 'things' is {things.type}; expected lists of structs")
    if things.null_count:
        raise WrongFile(path, "column 'things' has nulls")
    lengths = things.value_lengths().to_numpy()
    _refuse(path, "a world has no things", lengths == 0)
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    owners = np.repeat(np.arange(len(table)), lengths)
    flat = things.flatten()
    known = Counter(field.name for field in flat.type)
    for name in ("shape", "color", "size", "row", "column"):
        if known[name] != 1:
            count = known[name] or "no"
            raise WrongFile(path, f"the structs of column 'things' have {count} {quote(name)}")
    size, row, place = (
        _numbers(path, flat.field(name), f"{name} of a thing", owners)
        for name in ("size", "row", "column")
    )
    grid, agent_row, agent_column = (
        _numbers(path, _column(path, table, name), name, None)
        for name in ("grid", "agent_row", "agent_column")
    )
    _refuse(path, "a thing's size is none of 1 to 4", ~np.isin(size, SIZES), owners)
    outside = np.maximum(row, place) >= grid[owners]
    _refuse(path, "a thing is outside the grid", outside, owners)
    _refuse(path, "the agent is outside the grid", np.maximum(agent_row, agent_column) >= grid)
    cells = np.sort((owners << 16) + (row << 8) + place)
    _refuse(path, "two things share a cell", cells[1:] == cells[:-1], cells[1:] >> 16)
    return Worlds(
        size=grid.astype(np.uint8),
        agent=np.stack([agent_row, agent_column], axis=1).astype(np.uint8),
        heading=_codes(path, _column(path, table, "heading"), "heading", HEADINGS, None),
        things=np.stack(
            [
                _codes(path, flat.field("shape"), "shape", SHAPES, owners),
                _codes(path, flat.field("color"), "color", COLORS, owners),
                (size - 1).astype(np.uint8),
            ],
            axis=1,
        ),
        cells=np.stack([row, place], axis=1).astype(np.uint8),
        offsets=offsets,
    )


def _column(path: Path, table: pa.Table, name: str) -> Any:
    if name not in table.column_names:
        raise WrongFile(path, f"has no column {quote(name)} beside the other columns of worlds")
    column = table.column(name).unify_dictionaries().combine_chunks()
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _numbers(path: Path, array: Any, name: str, owners: NDArray[np.int64] | None) -> Any:
    if not pa.types.is_integer(array.type) or array.null_count:
        raise WrongFile(path, f"{name} is {array.type}; expected whole numbers without nulls")
    numbers = array.to_numpy()
    _refuse(path, f"{name} is not from 0 to 255", (numbers < 0) | (numbers > 255), owners)
    return numbers.astype(np.int64)


def _codes(
    path: Path, array: Any, name: str, known: Sequence[str], owners: NDArray[np.int64] | None
) -> NDArray[np.uint8]:
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    if encoded.null_count:
        raise WrongFile(path, f"{name} has nulls")
    words = encoded.dictionary.to_pylist()
    table = np.array([known.index(word) if word in known else 255 for word in words], np.uint8)
    codes = table[encoded.indices.to_numpy()] if words else np.zeros(0, np.uint8)
    _refuse(path, f"{name} is none of {', '.join(known)}", codes == 255, owners)
    return codes


def _refuse(
    path: Path, problem: str, wrong: NDArray[np.bool_], owners: NDArray[np.int64] | None = None
) -> None:
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        row = place if owners is None else int(owners[place])
        raise WrongFile(path, f"row {row + 1}: {problem}")
