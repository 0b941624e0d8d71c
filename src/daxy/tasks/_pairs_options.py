"""Options of a user's own pairs: files, and how to read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from daxy.core.errors import require
from daxy.formats.layout import STDIN, Layout, part_name
from daxy.tasks._dataset_options import DatasetOptions

DRAW, NONE, PUBLISHED, AUTO, OWN = CHOICES = "draw", "none", "published", "auto", "own"


@dataclass(frozen=True, kw_only=True)
class OwnFilesOptions(DatasetOptions):
    """Files of a user with examples of all parts."""

    train: Path | None = None
    """Training examples with worlds: JSON lines or Parquet of `daxy export`, or a `dataset.txt` of
    the authors' generator. Without --test: of all parts."""
    test: tuple[str, ...] = ()
    """Test examples; several tests as `NAME=FILE` each."""
    validation: str = PUBLISHED
    """Validation examples: a file, random training examples (`draw`), or `none`. By default the
    part `validation` of --train; where it has none, training takes random examples (`auto`) or, by
    a protocol without a validation set, none (`own`)."""
    validation_fraction: float = 0.1
    """Probability with which a training example becomes a random validation example."""

    not_in_identity: ClassVar[tuple[str, ...]] = (
        *DatasetOptions.not_in_identity,
        *("train", "test"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction = self.validation_fraction
        require(0 < fraction < 1, f"validation fraction must be between 0 and 1, not {fraction:g}")
        self.check_fraction(is_requested=self.validation in (DRAW, AUTO))
        self.check_plain("official", "own files are not the official ones")

    def for_training(self, validation: str = DRAW) -> Self:
        """Return the options for training: with the validation part of the files or a draw.

        Without such a part, a protocol without a validation set (`none`) has none here either.
        """
        if self.validation != PUBLISHED:
            return self
        return replace(self, validation=OWN if validation == NONE else AUTO)

    @property
    def origin(self) -> str:
        """Origin of the data."""
        return "files"

    @property
    def choices(self) -> Mapping[str, Any]:
        """Options that decide the content of a split; a validation set in a file is content."""
        chosen = dict(super().choices)
        if self.has_validation_file:
            chosen["validation"] = PUBLISHED
        return chosen

    @property
    def located(self) -> dict[str, Any]:
        """The files, and how to read them, as JSON values with absolute paths."""
        values = {name: getattr(self, name) for name in self.not_in_identity}
        values["train"] = None if self.train is None else _absolute(str(self.train))
        values["test"] = [f"{name}={_absolute(str(path))}" for name, path in self.tests]
        if self.has_validation_file:
            values["validation"] = _absolute(self.validation)
        return {name: value for name, value in values.items() if value}

    @property
    def has_validation_file(self) -> bool:
        """Whether the validation set is in a file of its own."""
        return self.validation not in CHOICES

    @property
    def tests(self) -> list[tuple[str, Path]]:
        """Name and file of each test of `--test`."""
        return [self._named_test(test) for test in self.test]

    def _named_test(self, test: str) -> tuple[str, Path]:
        name, equals, file = test.partition("=")
        if equals and name and not Path(test).exists():
            return name, Path(file)
        return ("test" if len(self.test) == 1 else part_name(Path(test))), Path(test)


@dataclass(frozen=True, kw_only=True)
class PairsOptions(OwnFilesOptions, Layout):
    """Files of pairs, and how to read them."""

    train: Path | None = None
    """Training pairs: TSV, CSV, JSON, Parquet or Arrow, lines `IN: ... OUT: ...`, or two files
    `SOURCES,TARGETS` with a side each. Without --test: a file with a column `split`, or a folder
    with a file a part."""
    normalize_unicode: bool = False
    """Write characters with accents in one way, as Unicode's form NFC has them."""

    not_in_identity: ClassVar[tuple[str, ...]] = (
        *OwnFilesOptions.not_in_identity,
        *(setting.name for setting in fields(Layout) if setting.name != "tokens"),
    )


def _absolute(name: str) -> str:
    """Return the absolute path of a file, or of two files `SOURCES,TARGETS`."""
    if Path(name) == STDIN:
        return name
    names = [name] if Path(name).exists() else name.split(",")
    return ",".join(str(Path(path).absolute()) for path in names)
