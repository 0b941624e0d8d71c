"""NACS: from actions back to a command (Bastings et al. 2018, section 4).

Every split of SCAN with source and target swapped and nothing deduplicated: an action sequence can
occur with several commands, also in both train and test. A prediction is right when it means the
input (back-mapping).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from daxy.core.examples import Tokens
from daxy.core.split import Sizes, Split
from daxy.languages import scan as scan_language
from daxy.tasks import scan
from daxy.tasks._scan_data import ScanData
from daxy.tasks._scan_task import ScanTask
from daxy.tasks._task import Task
from daxy.worlds.grid import World


@final
@dataclass(frozen=True, kw_only=True)
class NacsTask(Task[ScanData]):
    """The mirror of a split of SCAN, scored by back-mapping."""

    mirrored: ScanTask

    @property
    def published_sizes(self) -> Sizes | None:
        """The published sizes, which the generated set may not have."""
        return self.mirrored.published_sizes

    @property
    def options(self) -> type[ScanData]:
        """What users can choose of its data."""
        return ScanData

    def made(self, data: ScanData) -> Split:
        """Return the data of SCAN's split of that name and seed, line by line reversed."""
        forward = self.mirrored.split(data)
        return Split.of(
            train=forward.train.swapped(),
            validation=forward.validation.swapped(),
            test=forward.test.swapped(),
            task=self.name,
            rule=forward.provenance.rule,
            seed=data.seed,
            source=forward.provenance.source,
            options=forward.provenance.options,
        )

    def disagreement(self, source: Tokens, target: Tokens) -> str | None:
        """Return what is wrong with a command or its actions; see `Task.disagreement`."""
        return self.mirrored.disagreement(target, source)

    def targets(self, source: Tokens, world: World | None = None) -> tuple[Tokens, ...]:
        """Return the commands that mean these actions; see `Task.targets`."""
        del world
        return scan_language.commands_for(source)

    def source_spelling(self, token: str) -> str:
        """Return an action in the official spelling: I_TURN_LEFT for LTURN."""
        return scan_language.official_spelling(token)

    @property
    def source_name(self) -> str:
        """What a source is."""
        return "action"

    def statistics(self, split: Split) -> dict[str, float]:
        """Return the share of test inputs that also occur in train, maybe with another command.

        Lines kept for validation count as train, as in the published split.
        """
        seen = set(split.train.source) | set(split.validation.source)
        known = np.fromiter((source in seen for source in split.test.source), np.bool_)
        return {"share of test inputs whose actions occur in train": float(known.mean())}


def _mirror(task: ScanTask) -> NacsTask:
    name, family = (text.replace("scan/", "nacs/", 1) for text in (task.name, task.family))
    return NacsTask(
        name=name,
        family=family,
        summary=f"reversed: {task.summary}",
        paper="Bastings et al. 2018, Jump to better conclusions",
        rule=task.rule,
        sizes=task.sizes,
        metrics=("back_mapping", "exact"),
        mirrored=task,
    )


TASKS = {task.name: task for task in map(_mirror, scan.TASKS.values())}
