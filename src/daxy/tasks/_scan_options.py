"""Options of the data of SCAN and NACS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from daxy.core.errors import require
from daxy.core.settings import added_field, check_positive
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
MOST_OVERSAMPLED = 0.99
"""Maximum share of repetitions: a hundred training lines for each other command."""


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


@dataclass(frozen=True, kw_only=True)
class ProportionOptions(ScanOptions):
    """Options of a random split of SCAN."""

    train_fraction: float = added_field(0.8)
    """Share of the commands in train; the rest is the test set."""

    def __post_init__(self) -> None:
        super().__post_init__()
        share = self.train_fraction
        require(0 < share < 1, f"train fraction must be between 0 and 1, not {share:g}")


@dataclass(frozen=True, kw_only=True)
class LengthOptions(ScanOptions):
    """Options of SCAN's length split."""

    max_length: int = added_field(22)
    """Maximum actions of a training command; longer ones are the test set."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "max_length")


@dataclass(frozen=True, kw_only=True)
class ShotsOptions(ScanOptions):
    """Options of a split of SCAN that training commands of the held-out kind can be added to."""

    shots: int = added_field(0)
    """Commands that are drawn and join train: composed ones of the held-out primitive, or of
    another primitive with the held-out template. No command is in train and test."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.shots >= 0, f"shots must not be negative: {self.shots}")


@dataclass(frozen=True, kw_only=True)
class OversamplingOptions(ScanOptions):
    """Options of a split of SCAN that repeats the held-out primitive in train."""

    oversample_fraction: float = added_field(0.1)
    """Share of the training lines that are repetitions of the held-out primitive."""

    def __post_init__(self) -> None:
        super().__post_init__()
        share, most = self.oversample_fraction, MOST_OVERSAMPLED
        bounds = f"oversample fraction must be above 0 and at most {most:g}, not {share:g}"
        require(0 < share <= most, bounds)
        if not self.oversample:
            self.check_plain("oversample_fraction", "nothing is repeated with --no-oversample")


@dataclass(frozen=True, kw_only=True)
class PrimitiveOptions(OversamplingOptions, ShotsOptions):
    """Options of a split of SCAN that holds out compositions of a primitive."""
