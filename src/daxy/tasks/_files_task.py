"""Tasks of released files, which daxy checks to the byte."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np

from daxy import formats
from daxy.core.errors import WrongFile, WrongRequest, quote, require
from daxy.core.examples import Examples, Tokens
from daxy.core.split import Split
from daxy.tasks import _validation
from daxy.tasks._by_rules import NoRules
from daxy.tasks._dataset_options import DatasetOptions
from daxy.tasks._files import OfficialFiles
from daxy.tasks._release import File
from daxy.tasks._task import Task

LEARNED = ("train", "validation")


@dataclass(frozen=True, kw_only=True)
class FilesOptions(DatasetOptions):
    """Options of a task of files."""


@dataclass(frozen=True, kw_only=True)
class FilesValidationOptions(FilesOptions):
    """Options of a task of files without a validation set."""

    validation: Literal["published", "draw", "none"] = "published"
    """Validation set: random training examples (`draw`), or `none`. `published` has none; training
    then takes the choice of its protocol."""
    validation_fraction: float = 0.1
    """Share of the training examples that becomes the validation set."""

    has_validation_option: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction = self.validation_fraction
        require(0 < fraction < 1, f"validation fraction must be between 0 and 1, not {fraction:g}")
        self.check_fraction(is_requested=self.validation == "draw")


@dataclass(frozen=True, kw_only=True)
class FilesTask(Task[FilesOptions]):
    """Files in a format of `daxy.formats`, one for each part."""

    is_generated = False

    release: OfficialFiles
    form: str
    """Name of the format."""
    parts: Mapping[str, str]
    """Path of each part's file: train, optionally validation, and test or several tests by name."""
    known: Mapping[Tokens, Container[Tokens]] | None = None
    """Targets of each source in the files; see `on`."""

    def files(self) -> OfficialFiles:
        """Return the files."""
        return self.release

    @property
    def options(self) -> type[FilesOptions]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Class of the options: with `validation` where no such set is released."""
        return FilesOptions if "validation" in self.parts else FilesValidationOptions

    def build(self, data: FilesOptions) -> Split:
        """Return the data of the files."""
        if data.official is None:
            where = f"a clone of {self.release.home} (licence {self.release.licence})"
            raise WrongRequest(
                f"{self.name} does not come with daxy; expected --official DIR, {where}"
            )
        files = self.release.read(data.official)
        parts = {name: _examples(self.form, files[path]) for name, path in self.parts.items()}
        learned = {name: parts.pop(name) for name in LEARNED if name in parts}
        train, validation = self._split_validation(learned, data)
        return Split.of(
            train=train,
            validation=validation,
            test=Examples.joined([*parts.values()]),
            tests={name: len(part) for name, part in parts.items()} if len(parts) > 1 else None,
            task=self.name,
            rule=self.rule,
            seed=data.seed,
            source=f"official files in {data.official}",
            options=data.options,
        )

    def on(self, official: Path | None) -> Self:
        """Return the task with the pairs of the files, for `disagreement`."""
        known: dict[Tokens, set[Tokens]] = {}
        for examples in self.split(self.options(official=official)).parts.values():
            for source, target in zip(examples.source, examples.target, strict=True):
                known.setdefault(source, set()).add(target)
        return replace(self, known=known)

    def disagreement(self, source: Tokens, target: Tokens) -> str | None:
        """Return the error in a pair that is not in the files; None for a pair that is."""
        if self.known is None:
            raise NoRules(f"no rules say which pairs of {self.name} are right")
        if target in self.known.get(source, ()):
            return None
        text = quote(" ".join(source), most=100)
        if source in self.known:
            return f"{text} has another target in the files of {self.name}"
        return f"{text} is no source in the files of {self.name}"

    def _split_validation(
        self, learned: Mapping[str, Examples], data: FilesOptions
    ) -> tuple[Examples, Examples]:
        train = learned["train"]
        if not isinstance(data, FilesValidationOptions) or data.validation != "draw":
            data.check_plain("seed", f"{self.name} draws nothing")
            return train, learned.get("validation", train[:0])
        rows = np.arange(len(train))
        kept, drawn = _validation.draw(rows, data.validation_fraction, data.seed, self.name)
        _validation.check_sizes(len(kept), len(drawn), is_requested=True)
        return train.take(kept), train.take(drawn)


def _examples(form: str, file: File) -> Examples:
    parts = list(formats.get(form).parse(file.content, Path(file.place)).values())
    if len(parts) != 1:
        raise WrongFile(file.place, f"has {len(parts)} parts; expected one")
    return parts[0]
