"""Complete, resolved configuration of a run; its digest names the run."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from daxy import learners, tasks
from daxy.core.split import Option, Split
from daxy.tasks import DatasetOptions

FORMAT = 4
"""Version of the format of run folders."""

PROVENANCE = ("source", "version", "checksum", "tests")
"""Entries of `data` that are not options."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Data options, learner settings and seed of one run, as JSON values."""

    task: str
    data: dict[str, Option]
    """Data options and source, with the generator's version or the checksum of the files."""
    learner: dict[str, Any]
    """Learner settings; see `Learner.settings`."""
    seed: int
    format: int = field(default=FORMAT)

    @property
    def choices(self) -> dict[str, Any]:
        """Data options by name."""
        return {name: value for name, value in self.data.items() if name not in PROVENANCE}

    @property
    def options(self) -> dict[str, Any]:
        """Data options without the seed of the draws."""
        return {name: value for name, value in self.choices.items() if name != "seed"}

    @property
    def digest(self) -> str:
        """Digest of all fields: 12 hexadecimal digits."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()

    @property
    def name(self) -> str:
        """Name of the run folder: task, learner, seed and digest."""
        task = self.task.replace("/", "-")
        return f"{task}.{learners.name_of(self.learner)}.seed{self.seed}.{self.digest}"


def run_config(task: str, data: DatasetOptions, settings: dict[str, Any], seed: int) -> RunConfig:
    """Return the configuration of one run; loads files, but generates no data."""
    options: dict[str, Option] = {**data.choices, "source": data.origin}
    if data.origin == "generated":
        options["version"] = tasks.get(task).version
    else:
        provenance = load(task, data).provenance
        options["checksum"] = provenance.checksum
        if data.origin == "files" and provenance.sizes.tests:
            # The checksum does not depend on where one test ends and the next begins.
            tests = provenance.sizes.tests.items()
            options["tests"] = ", ".join(f"{name} {count}" for name, count in tests)
        if data.origin == "official":
            # Official files determine options that the user need not set.
            options = {"seed": data.seed, **provenance.options, **_provenance(options)}
    return RunConfig(task=task, data=options, learner=settings, seed=seed)


def _provenance(options: dict[str, Option]) -> dict[str, Option]:
    return {name: options[name] for name in PROVENANCE if name in options}


@cache
def load(task: str, data: DatasetOptions) -> Split:
    """Load a task's data once per process."""
    return data.load(task)
