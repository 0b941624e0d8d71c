"""Options of the data of gSCAN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from daxy.core.errors import require
from daxy.core.settings import check_positive
from daxy.tasks._dataset_options import DatasetOptions
from daxy.worlds.grid import LARGEST

Kind = Literal["adverb", "normal", "simple_trans", "simple_intrans"]
"""The authors' set types: all commands, those without a manner, of these those with at most one
adjective, and of these those that walk."""

MOST_WORKERS = 1_024
"""Maximum number of processes."""


@dataclass(frozen=True, kw_only=True)
class GscanOptions(DatasetOptions):
    """Options of a set of gSCAN; the defaults are those of the released one."""

    grid: int = 6
    """Cells along a side of the grid."""
    resampling: int = 5
    """Worlds for each command and distance."""
    kind: Kind = "adverb"
    """Commands: all (`adverb`), those without an adverb (`normal`), of these those with up to one
    adjective (`simple_trans`), and of these those that walk (`simple_intrans`)."""
    spin: Literal["before", "after"] = "before"
    """Spin `before` a step, as in the authors' data, or `after` it, as in the paper."""
    train_fraction: float = 0.9
    """Share of the examples that no test holds out in train; the rest is test A."""
    validation_fraction: float = 0.01
    """Share of the training examples that becomes the validation set."""
    workers: int = 1
    """Number of processes; the data do not depend on it."""

    not_in_identity: ClassVar[tuple[str, ...]] = ("official", "workers")

    def __post_init__(self) -> None:
        super().__post_init__()
        require(1 < self.grid <= LARGEST, f"grid must be from 2 to {LARGEST}, not {self.grid}")
        check_positive(self, "workers", "resampling")
        many = f"workers must be at most {MOST_WORKERS:,}, not {self.workers:,}"
        require(self.workers <= MOST_WORKERS, many)
        for name in ("train_fraction", "validation_fraction"):
            value, flag = getattr(self, name), name.replace("_", " ")
            require(0 < value < 1, f"{flag} must be between 0 and 1, not {value:g}")
        if self.kind != "adverb":
            self.check_plain("spin", f"no command of the kind {self.kind} has a manner")


@dataclass(frozen=True, kw_only=True)
class CompositionalOptions(GscanOptions):
    """Options of gSCAN's compositional split."""

    shots: int = 1
    """Examples of test G (`cautiously`) in train: 1, 5, 11 and 51 in the authors' sets for a k of
    1, 5, 10 and 50."""
    drop_longer: bool = False
    """Drop examples of G and H with more actions than any in train, as the paper says; the released
    files have them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.shots >= 0, f"shots must not be negative: {self.shots}")


@dataclass(frozen=True, kw_only=True)
class LengthOptions(GscanOptions):
    """Options of gSCAN's length split."""

    grid: int = 12
    """Cells along a side of the grid."""
    kind: Kind = "normal"
    """Commands: all (`adverb`), those without an adverb (`normal`), of these those with up to one
    adjective (`simple_trans`), and of these those that walk (`simple_intrans`)."""
    train_fraction: float = 0.8
    """Share of the examples of up to `max-length` actions in train; the rest is test A."""
    max_length: int = 15
    """Maximum actions of a training example."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "max_length")
