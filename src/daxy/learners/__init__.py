"""Learners: one method a file. The folder is the registry.

To add one, write a file with a `Learner` (`daxy.learners._learner`) and `LEARNER = TheClass`: a
frozen dataclass whose fields are its settings, and flags of `daxy train`. Each architecture of
`daxy.models` is a learner too, of the kind `neural`.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

from daxy import models
from daxy.core.errors import DaxyWarning, UnknownName, WrongFile, WrongRequest
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
    "registry_of",
    "title_of",
    "usable",
]

NEURAL = f"{__name__}.neural"


def _problem(name: str, learner: Any) -> str:
    if not (isinstance(learner, type) and issubclass(learner, Learner)):
        return "its LEARNER is no subclass of Learner"
    if not is_dataclass(learner):
        return "its LEARNER is no dataclass; expected a frozen one, whose fields are its settings"
    if missing := sorted(learner.__abstractmethods__):
        return f"its LEARNER lacks the method {' and '.join(missing)}"
    return named_by("kind")(name, learner)


LEARNERS: Registry[type[Learner]] = Registry(__name__, "LEARNER", "learner", problem=_problem)
"""Learners without a network."""


def available() -> list[str]:
    """Return the names of all learners: the architectures, and those without a network."""
    return sorted([*models.available(), *LEARNERS.available()])


def usable() -> dict[str, str]:
    """Return the summary of each learner by name; warn of those that cannot be loaded.

    Learners of daxy are not loaded.
    """
    summaries = dict[str, str]()
    for registry in (models.ARCHITECTURES, LEARNERS):
        for name in registry.usable():
            if name not in models.ARCHITECTURES or name not in LEARNERS:
                summaries[name] = registry.summary(name)
            else:
                warnings.warn(f"left out: {_collision(name)}", DaxyWarning, stacklevel=2)
                if name in registry.built_in:
                    summaries[name] = registry.summary(name)
    return summaries


def registry_of(name: str) -> Registry[Any]:
    """Return the registry of a learner: `models.ARCHITECTURES` for a network.

    Raises:
        UnknownName: there is no such learner.
        WrongRequest: a package has a network of this name, and another one a learner without.
    """
    registries = [it for it in (models.ARCHITECTURES, LEARNERS) if name in it.built_in]
    registries = registries or [it for it in (models.ARCHITECTURES, LEARNERS) if name in it]
    if not registries:
        raise UnknownName("learner", name, available(), listing="daxy learners")
    if len(registries) > 1:
        raise WrongRequest(_collision(name))
    return registries[0]


def _collision(name: str) -> str:
    packages = " and ".join(it.package_of(name) for it in (models.ARCHITECTURES, LEARNERS))
    return f"2 packages have a learner named {name!r}: {packages}; uninstall or rename one"


def get(name: str) -> type[Learner]:
    """Return the class of a learner; `Neural` for an architecture.

    Raises:
        UnknownName: there is no such learner.
        WrongFile: its file cannot be imported, or has no `LEARNER`.
        WrongRequest: see `registry_of`.
    """
    registry = registry_of(name)
    is_network = registry is models.ARCHITECTURES
    return importlib.import_module(NEURAL).LEARNER if is_network else registry.get(name)


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
    return registry_of(name).fault(name, problem)


def name_of(settings: Mapping[str, Any]) -> str:
    """Return the name of the learner with these settings."""
    return settings["model"] if "model" in settings else settings["learner"]


def title_of(settings: Mapping[str, Any]) -> str:
    """Return the display name of the learner with these settings."""
    title = settings["config"].get("name") if "learner" in settings else None
    return title or name_of(settings)
