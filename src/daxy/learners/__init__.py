"""Learners: one method a file. The folder is the registry.

To add one, write a file with a `Learner` (`daxy.learners._learner`) and `LEARNER = TheClass`: a
frozen dataclass whose fields are its settings, and flags of `daxy train`. Each architecture of
`daxy.models` is a learner too, of the kind `neural`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from daxy import models
from daxy.core.errors import UnknownName, WrongFile
from daxy.core.registry import Registry, named_by
from daxy.learners._learner import (
    Callbacks,
    Fit,
    Job,
    Learner,
    Predictor,
    Progress,
    Record,
    Score,
)

__all__ = [
    "LEARNERS",
    "Callbacks",
    "Fit",
    "Job",
    "Learner",
    "Predictor",
    "Progress",
    "Record",
    "Score",
    "available",
    "fault",
    "get",
    "name_of",
    "of_settings",
    "title_of",
]

NEURAL = f"{__name__}.neural"


def _problem(name: str, learner: Any) -> str:
    if not (isinstance(learner, type) and issubclass(learner, Learner)):
        return "its LEARNER is no subclass of Learner"
    return named_by("kind")(name, learner)


LEARNERS: Registry[type[Learner]] = Registry(__name__, "LEARNER", "learner", problem=_problem)
"""Learners without a network."""


def available() -> list[str]:
    """Return the names of all learners: the architectures, and those without a network."""
    return sorted([*models.available(), *LEARNERS.available()])


def get(name: str) -> type[Learner]:
    """Return the class of a learner; `Neural` for an architecture.

    Raises:
        UnknownName: there is no such learner.
        WrongFile: its file cannot be imported, or has no `LEARNER`.
    """
    if name in models.ARCHITECTURES:
        return importlib.import_module(NEURAL).LEARNER
    if name not in LEARNERS:
        raise UnknownName("learner", name, available(), listing="daxy learners")
    return LEARNERS.get(name)


def of_settings(settings: Mapping[str, Any]) -> Learner:
    """Return the learner with these settings; see `Learner.settings`.

    Raises:
        UnknownName: there is no such learner, or no such setting.
        WrongRequest: a setting has a wrong value.
    """
    return get(name_of(settings)).of(settings)


def fault(learner: Learner, problem: str) -> WrongFile:
    """Return the error of a problem of a learner's class; it names the package and the file."""
    name = name_of(learner.settings())
    registry = models.ARCHITECTURES if name in models.ARCHITECTURES else LEARNERS
    return registry.fault(name, problem)


def name_of(settings: Mapping[str, Any]) -> str:
    """Return the name of the learner with these settings."""
    return settings["model"] if "model" in settings else settings["learner"]


def title_of(settings: Mapping[str, Any]) -> str:
    """Return the display name of the learner with these settings."""
    title = settings["config"].get("name") if "learner" in settings else None
    return title or name_of(settings)
