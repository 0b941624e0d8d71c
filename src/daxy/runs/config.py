"""What a run is asked to be, complete and resolved; its digest is the run's name."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from daxy import learners
from daxy.core.split import Option, Split
from daxy.tasks import DatasetOptions

FORMAT = 3
"""Of run folders and the training that fills them: a change of what a config means raises it."""

BESIDE = ("source", "checksum")
"""What a config says of its data beside the choices of it."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """One run: a task's data, a learner's settings and a seed, all as JSON values."""

    task: str
    data: dict[str, Option]
    """The options of the split, and the checksum of what they gave."""
    learner: dict[str, Any]
    """The model, its configuration and the protocol, every field."""
    seed: int
    format: int = field(default=FORMAT)

    @property
    def choices(self) -> dict[str, Any]:
        """What was chosen of the task's data, by name."""
        return {name: value for name, value in self.data.items() if name not in BESIDE}

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


def run_config(
    task: str, data: DatasetOptions, split: Split, settings: dict[str, Any], seed: int
) -> RunConfig:
    """Return the configuration of one run on this split."""
    said = data.choices
    if data.origin == "official":
        # Files have made choices: some that nobody had to state, some that nobody knows.
        said = {"seed": data.seed, **split.provenance.options}
    options: dict[str, Option] = {
        **said,
        "source": data.origin,
        "checksum": split.provenance.checksum,
    }
    return RunConfig(task=task, data=options, learner=settings, seed=seed)


@cache
def load(task: str, data: DatasetOptions) -> Split:
    """Return a task's data, which many runs may share."""
    return data.load(task)
