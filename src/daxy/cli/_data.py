"""The arguments that say which data of a task is meant, shared by every verb that needs data.

A benchmark has choices of its own, so a verb's flags are those of the task that is named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, make_dataclass
from typing import Annotated, Any

import tyro

from daxy.cli._verb import Verb
from daxy.tasks import Data, ScanData

TaskName = tyro.conf.Positional[Annotated[str, tyro.conf.arg(metavar="TASK")]]
"""A task as the first argument."""

SEED = "Seed of the draws: of the split where it is a draw, and of the validation set."


@dataclass(frozen=True, kw_only=True)
class OfTask(Verb):
    """A verb that needs a task's data."""

    data: tyro.conf.Suppress[Data] = field(default_factory=ScanData)


def options_of(arguments: Sequence[str]) -> type[Data]:
    """Return what can be chosen of the data of the task that is named; of SCAN's if none is."""
    from daxy import tasks

    known = tasks.available()
    named = next((word for word in arguments if word in known), None)
    return ScanData if named is None else tasks.get(named).options


def field_of(options: type[Data], **defaults: Any) -> tuple[str, Any, Any]:
    """Return the field of a verb that holds these choices as flags of its own."""
    seed = Annotated[int, tyro.conf.arg(name="split-seed", help=SEED)]
    flags: list[Any] = [("seed", seed, 0)]
    made = make_dataclass(options.__name__, flags, bases=(options,), frozen=True, kw_only=True)
    made.__doc__ = options.__doc__
    return "data", tyro.conf.OmitArgPrefixes[made], field(default_factory=lambda: made(**defaults))


def with_data(kind: type[Verb]) -> Callable[[Sequence[str]], type[Verb]]:
    """Return what makes a verb with the flags of the data of the task that is named."""

    def verb(arguments: Sequence[str]) -> type[Verb]:
        flags: list[Any] = [field_of(options_of(arguments))]
        made = make_dataclass(kind.__name__, flags, bases=(kind,), frozen=True, kw_only=True)
        made.__doc__ = kind.__doc__
        return made

    return verb
