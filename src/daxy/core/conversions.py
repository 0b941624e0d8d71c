"""Examples as tables and arrays of other libraries: Arrow, pandas, `datasets`, NumPy, PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from daxy.core.display import Brief
from daxy.core.errors import require
from daxy.core.imports import need
from daxy.core.sequences import Sequences
from daxy.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    import pyarrow as pa

    from daxy.core.examples import Examples


@dataclass(frozen=True, eq=False)
class Arrays(Brief):
    """Examples as padded arrays of codes.

    All parts of a split have the same codes. `target_vocabulary.decode(codes)` returns tokens
    again, as `daxy.score` takes them.
    """

    keys: tuple[str, ...]
    source: NDArray[np.int64]
    """Codes of each source, END, then padding: shape [count, longest source + 1]."""
    target: NDArray[np.int64]
    """Codes of each target, END, then padding: [count, longest target + 1]."""
    source_lengths: NDArray[np.int64]
    """Number of codes of each source, END included: [count]."""
    target_lengths: NDArray[np.int64]
    """Number of codes of each target, END included: [count]."""
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    worlds: NDArray[np.uint8] | None = None
    """Features of each cell: [count, row, column, channel]; None without worlds."""

    @property
    def _brief(self) -> str:
        worlds = "" if self.worlds is None else f", worlds {self.worlds.shape}"
        return f"source {self.source.shape}, target {self.target.shape}{worlds}"

    @property
    def source_mask(self) -> NDArray[np.bool_]:
        """True for codes of a source, False for padding: [count, width]."""
        return np.arange(self.source.shape[1]) < self.source_lengths[:, None]

    @property
    def target_mask(self) -> NDArray[np.bool_]:
        """True for codes of a target, False for padding: [count, width]."""
        return np.arange(self.target.shape[1]) < self.target_lengths[:, None]


def tokens(sequences: Sequences) -> pa.Array:
    """Return sequences as an Arrow array of lists of strings."""
    import pyarrow as pa

    symbols = pa.array(sequences.symbols, pa.string())
    values = pa.DictionaryArray.from_arrays(pa.array(sequences.codes), symbols)
    offsets = pa.array(sequences.offsets.astype(np.int32))
    return pa.ListArray.from_arrays(offsets, values.cast(pa.string()))


def to_arrow(examples: Examples) -> pa.Table:
    """Return a table with the columns `key`, `source` and `target`, and those of worlds."""
    import pyarrow as pa

    columns = {
        "key": pa.array(examples.keys, pa.string()),
        "source": tokens(examples.source),
        "target": tokens(examples.target),
    }
    worlds = {} if examples.worlds is None else examples.worlds.arrow_columns
    return pa.table(columns | worlds)


def to_pandas(examples: Examples) -> Any:
    """Return a `DataFrame` with the columns of `to_arrow`; tokens are lists.

    Raises:
        MissingPackage: pandas is not installed.
    """
    need("pandas")
    import pandas as pd

    # Lists, where `Table.to_pandas` makes arrays, which `==` and `in` do not take.
    table = to_arrow(examples)
    return pd.DataFrame({name: table.column(name).to_pylist() for name in table.column_names})


def to_datasets(examples: Examples) -> Any:
    """Return a `datasets.Dataset` with the columns of `to_arrow`.

    Raises:
        MissingPackage: `datasets` is not installed.
    """
    need("datasets")
    from datasets import Dataset

    return Dataset(to_arrow(examples))


def to_numpy(examples: Examples, pad: int) -> Arrays:
    """Return padded codes; see `Examples.numpy`."""
    require(pad < 1, f"pad must be 0 or negative, not {pad}")
    source, target = Vocabulary(examples.source.symbols), Vocabulary(examples.target.symbols)
    seen = examples.observations
    return Arrays(
        keys=examples.keys,
        source=_padded(source, examples.source, pad),
        target=_padded(target, examples.target, pad),
        source_lengths=examples.source.lengths + 1,
        target_lengths=examples.target.lengths + 1,
        source_vocabulary=source,
        target_vocabulary=target,
        worlds=None if seen is None else seen.cell_features[seen.cell_ids],
    )


def _padded(vocabulary: Vocabulary, side: Sequences, pad: int) -> NDArray[np.int64]:
    codes = vocabulary.encode(side).astype(np.int64)
    codes[np.arange(codes.shape[1]) > side.lengths[:, None]] = pad
    return codes


def to_loader(
    examples: Examples,
    *,
    batch_size: int,
    pad: int,
    shuffle: bool,
    seed: int,
    options: dict[str, Any],
) -> Any:
    """Return a `DataLoader`; see `Examples.torch`."""
    need("torch")
    from torch import Generator
    from torch.utils.data import DataLoader

    to_numpy(examples[:0], pad)  # refuses a wrong `pad` before the first batch
    rows: Any = range(len(examples))
    options = {
        "batch_size": batch_size,
        "shuffle": shuffle,
        "generator": Generator().manual_seed(seed),
        "collate_fn": partial(_batch, examples, pad),
        **options,
    }
    return DataLoader(rows, **options)


def _batch(examples: Examples, pad: int, rows: Sequence[int]) -> dict[str, Any]:
    from torch import float32, from_numpy

    arrays = to_numpy(examples.take(rows), pad)
    names = ("source", "source_mask", "source_lengths", "target", "target_mask", "target_lengths")
    batch: dict[str, Any] = {"keys": arrays.keys}
    batch |= {name: from_numpy(getattr(arrays, name)) for name in names}
    if arrays.worlds is not None:
        batch["worlds"] = from_numpy(arrays.worlds).to(float32)
    return batch
