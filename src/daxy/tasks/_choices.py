"""The data options of all benchmarks as keyword arguments, for type checkers and editors."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypedDict

from daxy.tasks._scan_options import Validation


class Choices(TypedDict, total=False):
    """Options of the data of all benchmarks by name; each benchmark takes some of them.

    A type checker refuses a misspelt name or value. A benchmark of another package can have other
    options: pass them to its own class, and call its `load`.
    """

    grammar: Path | str | None
    grid: int
    kind: Literal["adverb", "normal", "simple_trans", "simple_intrans"]
    drop_longer: bool
    lengths: Literal["grammar", "uniform"]
    max_length: int
    oversample: bool
    oversample_fraction: float
    pairs: Path | None
    prefixes: Literal["tutorial", "lake2018"]
    repetitions: int
    resampling: int
    sentences: Literal["grammar", "file", "released"]
    shard: str
    min_length: int
    shots: int
    spin: Literal["before", "after"]
    symbols: int
    test_fraction: float
    test_max_length: int
    test_pairs: int
    test_min_length: int
    train_fraction: float
    train_pairs: int
    validation: Validation
    validation_fraction: float
    validation_pairs: int
    word: str
    workers: int
