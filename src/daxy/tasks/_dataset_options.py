"""Options of a task's data: chosen by users, recorded in a run's config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from daxy.core.display import Brief
from daxy.core.errors import require
from daxy.core.settings import check_types, to_dict
from daxy.core.split import Split
from daxy.tasks._registry import get


@dataclass(frozen=True, kw_only=True)
class DatasetOptions(Brief):
    """Options of every task's data; a benchmark adds its own."""

    seed: int = 0
    """Seed of a random split, and of the validation set."""
    official: Path | None = None
    """Official files to load instead of generating: a clone of the authors' repository, a folder in
    it, or an archive; for gSCAN, a `dataset.txt`."""

    not_in_identity: ClassVar[tuple[str, ...]] = ("official",)
    """Fields that decide where data comes from, not its content."""
    has_validation_option: ClassVar[bool] = False
    """Whether there is an option `validation`: how to split validation examples off train."""

    @property
    def _brief(self) -> str:
        values = {name: getattr(self, name) for name in to_dict(self)}
        changed = {n: value for n, value in values.items() if value != getattr(type(self), n, None)}
        return ", ".join(f"{name}={value!r}" for name, value in changed.items())

    def __post_init__(self) -> None:
        check_types(type(self), vars(self))
        require(self.seed >= 0, f"a seed must not be negative: {self.seed}")

    def check_plain(self, name: str, why: str) -> None:
        """Refuse an option without effect."""
        value, flag = getattr(self, name), name.replace("_", "-")
        flag = "split-seed" if name == "seed" else f"no-{flag}" if value is False else flag
        require(value == getattr(type(self), name), f"{why}; leave out --{flag}")

    def check_fraction(self, *, is_requested: bool) -> None:
        """Refuse a `validation_fraction` without a validation set."""
        if not is_requested:
            why = "there is no validation set (--validation draw carves one)"
            self.check_plain("validation_fraction", why)

    def for_training(self, validation: str = "draw") -> Self:
        """Return the options for training: with a validation set if none is published or chosen.

        Args:
            validation: How to split it off train.
        """
        if self.has_validation_option and getattr(self, "validation", None) == "published":
            return replace(self, validation=validation)  # pyright: ignore[reportCallIssue]
        return self

    @property
    def origin(self) -> str:
        """Origin of the data: generated or official."""
        return "generated" if self.official is None else "official"

    @property
    def choices(self) -> Mapping[str, Any]:
        """Options that decide the content of a split, by name."""
        return {
            name: value for name, value in to_dict(self).items() if name not in self.not_in_identity
        }

    @property
    def options(self) -> dict[str, Any]:
        """The same without the seed, which a split records by itself."""
        return {name: value for name, value in self.choices.items() if name != "seed"}

    @property
    def located(self) -> dict[str, Any]:
        """Files that the data comes from, as JSON values with absolute paths."""
        return {} if self.official is None else {"official": str(self.official.resolve())}

    def load(self, task: str) -> Split:
        """Return the task's data.

        Raises:
            UnknownName: there is no such task.
            WrongRequest: these are not the options of the task.
            WrongFile: an official file is missing or has a wrong line.
        """
        return get(task).split(self)
