"""Verbs that need a task's data.

A benchmark has choices of its own, so the flags of such a verb depend on TASK.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, make_dataclass
from typing import Annotated, Any, Self, get_origin, get_type_hints

import tyro

from daxy.cli._verb import Verb
from daxy.core.errors import require
from daxy.core.settings import field_docs
from daxy.tasks import DatasetOptions, ScanOptions

TaskName = tyro.conf.Positional[
    Annotated[str, tyro.conf.arg(metavar="TASK", help="The task; `daxy tasks` lists them.")]
]
"""Type of a task as the first argument."""

SEED = "Seed of a random split, and of the validation set."


@dataclass(frozen=True, kw_only=True)
class TaskVerb(Verb):
    """A verb that needs a task's data; its flags are those of the task."""

    leading = ("task",)

    data: tyro.conf.Suppress[DatasetOptions] = field(default_factory=ScanOptions)

    @classmethod
    def variants(cls, words: Sequence[str]) -> Iterator[type[Verb]]:
        """Yield the verb for each task among the words, then for none."""
        from daxy import tasks

        yield from map(cls.for_task, among(words, tasks.exists))
        yield cls.for_task(None)

    @classmethod
    def for_task(cls, task: str | None) -> type[Self]:
        """Return the verb with the flags of a task's data; of SCAN's without a task."""
        options, names = options_of(task), () if task is None else (task,)
        shown = () if options is ScanOptions else names
        return cls.with_fields(*cls.fields_of(options), names=names, help_names=shown)

    @classmethod
    def fields_of(cls, options: type[DatasetOptions]) -> list[Any]:
        """Return the fields that depend on the task, by the class of its data."""
        return [data_field(options)]


@dataclass(frozen=True, kw_only=True)
class SampleVerb(TaskVerb):
    """A verb that can draw a sample of a part; the same flags draw the same examples in each."""

    sample: int | None = None
    """Draw so many examples of the part, without replacement, in their order. `export` and `score`
    draw the same ones with the same seed."""
    seed: int = 0
    """Seed of the sample."""

    def check_sample(self) -> None:
        """Refuse a seed without a sample."""
        require(self.sample is not None or self.seed == 0, "--seed needs --sample; leave it out")


def among(words: Sequence[str], exists: Callable[[str], bool]) -> Iterator[str]:
    """Yield the words that are names of something, each once."""
    names = (word for word in dict.fromkeys(words) if not word.startswith("-"))
    return filter(exists, names)


def options_of(task: str | None) -> type[DatasetOptions]:
    """Return the class of a task's data; of SCAN's without a task."""
    from daxy import tasks

    return ScanOptions if task is None else tasks.get(task).options


def data_field(options: type[DatasetOptions], **defaults: Any) -> tuple[str, Any, Any]:
    """Return the field of a verb that has the choices of a task's data as flags."""
    seed = Annotated[int, tyro.conf.arg(name="split-seed", help=SEED)]
    flags: list[Any] = [("seed", seed, 0)]
    hints = get_type_hints(options)
    docs = {
        name: it for kind in reversed(options.__mro__[:-1]) for name, it in field_docs(kind).items()
    }
    for name in (name for name, hint in hints.items() if get_origin(hint) is tuple):
        several = tyro.conf.arg(metavar="[NAME=]FILE", help=docs[name])
        kind = Annotated[hints[name], several, tyro.conf.UseAppendAction]
        flags.append((name, kind, field(default=())))
    made = make_dataclass(options.__name__, flags, bases=(options,), frozen=True, kw_only=True)
    made.__doc__ = options.__doc__
    return "data", tyro.conf.OmitArgPrefixes[made], field(default_factory=lambda: made(**defaults))
