"""Which data of a task is meant, as a value: what users choose, what a run's config records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from daxy.core.display import Brief
from daxy.core.errors import require
from daxy.core.settings import check_types, stated
from daxy.core.split import Split


@dataclass(frozen=True, kw_only=True)
class Data(Brief):
    """What users can choose of any task's data; a benchmark adds choices of its own."""

    seed: int = 0
    """Seed of a random split, and of the validation set."""
    official: Path | None = None
    """Official files to load instead of generating: a clone of the authors' repository, a folder in
    it, or an archive; for gSCAN, a `dataset.txt`."""

    not_in_identity: ClassVar[tuple[str, ...]] = ("official",)
    """Fields that say where data comes from or how, not what it is."""
    has_validation_option: ClassVar[bool] = False
    """Whether `validation` says how the validation set is carved from train, or that there is
    none."""

    @property
    def _brief(self) -> str:
        values = {name: getattr(self, name) for name in stated(self)}
        changed = {n: value for n, value in values.items() if value != getattr(type(self), n, None)}
        return ", ".join(f"{name}={value!r}" for name, value in changed.items())

    def __post_init__(self) -> None:
        check_types(type(self), vars(self))
        require(self.seed >= 0, f"a seed must not be negative: {self.seed}")

    def check_plain(self, name: str, why: str) -> None:
        """Refuse a choice that would change nothing."""
        value, flag = getattr(self, name), name.replace("_", "-")
        flag = "split-seed" if name == "seed" else f"no-{flag}" if value is False else flag
        require(value == getattr(type(self), name), f"{why}; leave out --{flag}")

    def check_fraction(self, *, is_requested: bool) -> None:
        """Refuse a `validation_fraction` of a validation set that nobody asked for."""
        if not is_requested:
            why = "there is no validation set (--validation draw carves one)"
            self.check_plain("validation_fraction", why)

    def for_training(self, validation: str = "draw") -> Self:
        """Return the data to train on: with a validation set, where none is published or chosen.

        Args:
            validation: How to carve it from train, as the `validation` of these choices.
        """
        if self.has_validation_option and getattr(self, "validation", None) == "published":
            return replace(self, validation=validation)  # pyright: ignore[reportCallIssue]
        return self

    @property
    def origin(self) -> str:
        """Where data comes from, in a word."""
        return "generated" if self.official is None else "official"

    @property
    def choices(self) -> Mapping[str, Any]:
        """What decides what a split holds, whatever files it comes from, by name."""
        return {name: value for name, value in stated(self).items() if name not in self.not_in_identity}

    @property
    def options(self) -> dict[str, Any]:
        """What a split records of its choices: all but the seed, which it names by itself."""
        return {name: value for name, value in self.choices.items() if name != "seed"}

    def load(self, task: str) -> Split:
        """Return the task's data.

        Raises:
            UnknownName: there is no such task.
            WrongRequest: these are not the choices that the task has.
            WrongFile: an official file is missing, or a line of it is wrong.
        """
        from daxy import tasks

        return tasks.get(task).split(self)
