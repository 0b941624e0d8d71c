"""The complete, resolved configuration of a run; its digest is the run's name."""

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
"""Version of run folders: a change of the meaning of a configuration raises it."""

PROVENANCE = ("source", "version", "checksum")
"""What a configuration says of its data beside the options."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """One run: a task's data, a learner's settings and a seed, all as JSON values."""

    task: str
    data: dict[str, Option]
    """The options of the data and its source: the version of the generator, or the checksum of the
    files."""
    learner: dict[str, Any]
    """The settings of the learner; see `Learner.settings`."""
    seed: int
    format: int = field(default=FORMAT)

    @property
    def choices(self) -> dict[str, Any]:
        """The options of the data, by name."""
        return {name: value for name, value in self.data.items() if name not in PROVENANCE}

    @property
    def options(self) -> dict[str, Any]:
        """The same without the seed of the draws."""
        return {name: value for name, value in self.choices.items() if name != "seed"}

    @property
    def digest(self) -> str:
        """Return 12 hexadecimal digits of everything above."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()

    @property
    def name(self) -> str:
        """Return the run folder's name: readable first, then the digest that decides."""
        task = self.task.replace("/", "-")
        return f"{task}.{learners.name_of(self.learner)}.seed{self.seed}.{self.digest}"


def run_config(task: str, data: DatasetOptions, settings: dict[str, Any], seed: int) -> RunConfig:
    """Return the configuration of one run; files are loaded, and nothing is generated."""
    options: dict[str, Option] = {**data.choices, "source": data.origin}
    if data.origin == "generated":
        options["version"] = tasks.get(task).version
    else:
        provenance = load(task, data).provenance
        options["checksum"] = provenance.checksum
        if data.origin == "official":
            # Official files fix options, some of which nobody had to state.
            options = {"seed": data.seed, **provenance.options, **_provenance(options)}
    return RunConfig(task=task, data=options, learner=settings, seed=seed)


def _provenance(options: dict[str, Option]) -> dict[str, Option]:
    return {name: options[name] for name in PROVENANCE if name in options}


@cache
def load(task: str, data: DatasetOptions) -> Split:
    """Return a task's data, which many runs may share."""
    return data.load(task)
