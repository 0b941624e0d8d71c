"""Which data of gSCAN is meant: of any grid, resampling and kind of commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from daxy.core.errors import require
from daxy.core.settings import check_positive
from daxy.tasks._data import Data
from daxy.worlds.grid import LARGEST

Kind = Literal["adverb", "normal", "simple_trans", "simple_intrans"]
"""Which commands there are: all, those without a manner, or of these those with at most one
adjective, and of these those that walk: the authors' set types."""

MOST_WORKERS = 1_024
"""Processes at most."""


@dataclass(frozen=True, kw_only=True)
class GscanData(Data):
    """What a set of gSCAN is made of; the released one unless chosen otherwise."""

    grid: int = 6
    """Cells along a side of the grid."""
    resampling: int = 5
    """How often a command is shown at each distance."""
    kind: Kind = "adverb"
    """Which commands: all, without a manner, of these with one adjective, of these that walk."""
    spin: Literal["before", "after"] = "before"
    """Whether spinning comes before a step, as in the authors' data, or after, as they write."""
    train_fraction: float = 0.9
    """The share of what no test holds out that is in train; the rest is a test too."""
    validation_fraction: float = 0.01
    """The share of the training examples that the validation set has."""
    workers: int = 1
    """Processes that make it; what they make does not depend on how many they are."""

    beside: ClassVar[tuple[str, ...]] = ("official", "workers")

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
class CompositionalData(GscanData):
    """What gSCAN's compositional splits are made of."""

    shots: int = 1
    """How many examples of test G, of what is done cautiously, are in train: 1, 5, 11 and 51 in the
    authors' sets for a k of 1, 5, 10 and 50."""
    drop_longer: bool = False
    """Leave out of G and H what asks for more actions than anything in train, as the paper says
    that it does; the released files have it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.shots >= 0, f"shots must not be negative: {self.shots}")


@dataclass(frozen=True, kw_only=True)
class LengthData(GscanData):
    """What gSCAN's length split is made of."""

    grid: int = 12
    """Cells along a side of the grid."""
    kind: Kind = "normal"
    """Which commands: all, without a manner, of these with one adjective, of these that walk."""
    train_fraction: float = 0.8
    """The share of what is not too long that is in train; the rest is a test too."""
    max_length: int = 15
    """How many actions there are in train at most."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "max_length")
