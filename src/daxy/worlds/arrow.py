"""Worlds as readable columns of an Arrow table.

`grid` is the number of cells along a side; `agent_row`, `agent_column` and `heading` describe the
agent; `things` has a struct of shape, color, size, row and column for each thing, the target first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from daxy.languages.grounded import COLORS, SHAPES, SIZES
from daxy.worlds.grid import HEADINGS

if TYPE_CHECKING:
    from daxy.worlds.columns import Worlds

NAMES = ("grid", "agent_row", "agent_column", "heading", "things")


def columns(worlds: Worlds) -> dict[str, pa.Array]:
    """Return the columns of worlds."""
    shapes, colors, sizes = worlds.things.T
    rows, places = worlds.cells.T
    fields = {
        "shape": _words(shapes, SHAPES),
        "color": _words(colors, COLORS),
        "size": pa.array(np.array(SIZES, np.uint8)[sizes]),
        "row": pa.array(rows),
        "column": pa.array(places),
    }
    things = pa.StructArray.from_arrays(list(fields.values()), names=list(fields))
    agent_rows, agent_columns = worlds.agent.T
    return {
        "grid": pa.array(worlds.size),
        "agent_row": pa.array(agent_rows),
        "agent_column": pa.array(agent_columns),
        "heading": _words(worlds.heading, HEADINGS),
        "things": pa.ListArray.from_arrays(pa.array(worlds.offsets.astype(np.int32)), things),
    }


def _words(codes: NDArray[np.uint8], words: Sequence[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(words)).cast(pa.string())
