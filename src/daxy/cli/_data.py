"""The arguments that say which data of a task is meant, shared by every verb that needs data.

A benchmark has choices of its own, so a verb's flags are those of the task that is named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, make_dataclass
from typing import Annotated, Any

import tyro

from daxy.cli._verb import Verb
from daxy.core.errors import UnknownName, require
from daxy.tasks import DatasetOptions, ScanOptions

TaskName = tyro.conf.Positional[Annotated[str, tyro.conf.arg(metavar="TASK")]]
"""A task as the first argument."""

SEED = "Seed of a random split, and of the validation set."


@dataclass(frozen=True, kw_only=True)
class OfTask(Verb):
    """A verb that needs a task's data."""

    data: tyro.conf.Suppress[DatasetOptions] = field(default_factory=ScanOptions)


@dataclass(frozen=True, kw_only=True)
class OfSample(OfTask):
    """A verb that can take a draw of a part; the same flags draw the same examples in each."""

    sample: int | None = None
    """Draw so many examples of the part, without replacement, in their order. `export` and `score`
    draw the same ones with the same seed."""
    seed: int = 0
    """Seed of the sample."""

    def check_sample(self) -> None:
        """Refuse a seed of nothing."""
        require(self.sample is not None or self.seed == 0, "--seed needs --sample; leave it out")


def named(arguments: Sequence[str]) -> str | None:
    """Return the task that is named.

    Raises:
        UnknownName: what stands in its place is none, so that its flags cannot be known either.
    """
    from daxy import tasks

    found = next((word for word in arguments if tasks.exists(word)), None)
    if found is None and arguments and not arguments[0].startswith("-"):
        raise UnknownName("task", arguments[0], tasks.available())
    return found


def options_of(task: str | None) -> type[DatasetOptions]:
    """Return what can be chosen of a task's data; of SCAN's if there is none."""
    from daxy import tasks

    return ScanOptions if task is None else tasks.get(task).options


def field_of(options: type[DatasetOptions], **defaults: Any) -> tuple[str, Any, Any]:
    """Return the field of a verb that holds these choices as flags of its own."""
    seed = Annotated[int, tyro.conf.arg(name="split-seed", help=SEED)]
    flags: list[Any] = [("seed", seed, 0)]
    made = make_dataclass(options.__name__, flags, bases=(options,), frozen=True, kw_only=True)
    made.__doc__ = options.__doc__
    return "data", tyro.conf.OmitArgPrefixes[made], field(default_factory=lambda: made(**defaults))


def flag(name: str, value: Any) -> str:
    """Return a flag with its value: of a setting, or of a choice of data, as `field_of` has it."""
    called = "split-seed" if name == "seed" else name.replace("_", "-")
    if isinstance(value, bool):
        return f"--{called}" if value else f"--no-{called}"
    return f"--{called} {value}"


def after(task: str | None) -> str:
    """Return what stands before `--help` to see a task's flags; nothing where all tasks have them.

    Help without a task shows SCAN's.
    """
    return "" if task is None or options_of(task) is ScanOptions else task


def with_data(kind: type[Verb]) -> Callable[[Sequence[str]], type[Verb]]:
    """Return what makes a verb with the flags of the data of the task that is named."""

    def verb(arguments: Sequence[str]) -> type[Verb]:
        task = named(arguments)
        options = options_of(task)
        flags: list[Any] = [field_of(options)]
        made = make_dataclass(kind.__name__, flags, bases=(kind,), frozen=True, kw_only=True)
        made.__doc__ = kind.__doc__
        made.after = after(task)
        return made

    return verb
