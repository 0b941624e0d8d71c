"""Options of the data of SCAN and NACS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from daxy.core.errors import require
from daxy.tasks._dataset_options import DatasetOptions

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
"""Source of the validation set; see `daxy.tasks._validation`."""


@dataclass(frozen=True, kw_only=True)
class ScanOptions(DatasetOptions):
    """Options of a split of SCAN; not every split takes each of them."""

    oversample: bool = True
    """Repeat the held-out primitive in train, as the published split does."""
    validation: Validation = "published"
    """Validation set: random training examples (`draw`), composed commands of the proxy primitive
    `dab`, the longest examples (`length`), or `none`. `published` has none, as the authors
    published the split; training then takes the choice of its protocol. The `released-` sets of
    Bastings et al. need --official NACS, a clone of their repository."""
    validation_fraction: float = 0.1
    """Share of the training examples that becomes the validation set."""

    has_validation_option: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction = self.validation_fraction
        require(0 < fraction < 1, f"validation fraction must be between 0 and 1, not {fraction:g}")
        if self.validation.startswith("released-"):
            self.check_plain("validation_fraction", "the released validation set is drawn already")
        else:
            self.check_fraction(is_requested=self.validation not in ("published", "none"))
