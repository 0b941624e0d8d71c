"""Which data of SCAN or of its mirror is meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from daxy.core.errors import require
from daxy.tasks._data import Data

Validation = Literal[
    "published",
    "draw",
    "dab",
    "length",
    "none",
    "released-random",
    "released-dab",
    "released-length",
]
"""How the validation set comes about; see `daxy.tasks._validation`."""


@dataclass(frozen=True, kw_only=True)
class ScanData(Data):
    """Which data of a split of SCAN; not every split has every choice."""

    oversample: bool = True
    """Repeat the held-out primitive in train as the published split does."""
    validation: Validation = "published"
    """How the validation set is carved from train: a draw from its lines, composed commands of the
    proxy primitive `dab`, its longest lines (`length`), or not at all (`none`). `published` is the
    split as its authors published it, without one; training carves the one of its protocol. The
    sets that Bastings et al. released are loaded with --official NACS, a clone of their repository:
    `released-random`, `released-dab` and `released-length`."""
    validation_fraction: float = 0.1
    """The share of the training lines that the validation set aims at."""

    carved: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction = self.validation_fraction
        require(0 < fraction < 1, f"validation fraction must be between 0 and 1, not {fraction:g}")
        if self.validation.startswith("released-"):
            self.check_plain("validation_fraction", "the released validation set is drawn already")
        else:
            self.check_fraction(carved=self.validation not in ("published", "none"))
