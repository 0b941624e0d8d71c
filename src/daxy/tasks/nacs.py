"""NACS: from actions back to a command (Bastings et al. 2018, section 4).

Every split of SCAN with source and target swapped and nothing deduplicated: an action sequence can
occur with several commands, also in both train and test. A prediction is right when it means the
input (back-mapping).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Example, Examples, Sequences, Tokens
from daxy.core.split import Sizes, Split
from daxy.languages import scan as scan_language
from daxy.tasks import scan
from daxy.tasks._checked import Count
from daxy.tasks._own_files import own_files
from daxy.tasks._scan_checks import counts, is_mirrored, is_scan
from daxy.tasks._scan_options import ScanOptions
from daxy.tasks._scan_task import ScanTask
from daxy.tasks._task import Task
from daxy.worlds.world import World


@final
@dataclass(frozen=True, kw_only=True)
class NacsTask(Task[ScanOptions]):
    """The mirror of a split of SCAN, scored by back-mapping."""

    mirrored: ScanTask

    language = scan_language.LANGUAGE
    is_mirrored = True
    shared_rules = "nacs"
    source_name = "action"

    @property
    def options(self) -> type[ScanOptions]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Class of the options of its data: those of SCAN's split."""
        return self.mirrored.options

    @property
    def published_sizes(self) -> Sizes | None:
        """The published sizes, which may differ from the generated ones."""
        return self.mirrored.published_sizes

    def build(self, data: ScanOptions) -> Split:
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

    def recognises(self, examples: Sequence[Example]) -> bool:
        """Whether most words are SCAN's, and most sources begin with an action."""
        return is_scan(examples) and is_mirrored(examples)

    def counts(self, examples: Sequence[Example]) -> dict[str, Count]:
        """Return the numbers of repeated commands and of other spellings."""
        return counts(examples, [example.target for example in examples])

    def disagreement(self, source: Tokens, target: Tokens) -> str | None:
        """Return the error in a command or its actions."""
        return self.mirrored.disagreement(target, source)

    def meaning(self, source: Tokens, world: World | None = None) -> Tokens:
        """Return the shortest command that means these actions."""
        return self.targets(source, world)[0]

    def targets(self, source: Tokens, world: World | None = None) -> tuple[Tokens, ...]:
        """Return the commands that mean these actions."""
        del world
        return scan_language.commands_for(source)

    def accepted(self, examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
        """Return where a prediction is a command that means the source.

        Commands with the proxy primitive `dab` count only if a source has its action.
        """
        assert len(examples) == len(predictions), (len(examples), len(predictions))
        asks_for_dab = "I_DAB" in examples.source.compact().symbols
        grammar = scan_language.SCAN_WITH_DAB if asks_for_dab else scan_language.SCAN
        meanings = scan_language.meanings(grammar)
        pairs = zip(examples.source, predictions, strict=True)
        right = (meanings.get(command) == actions for actions, command in pairs)
        return np.fromiter(right, np.bool_, len(examples))

    def source_spelling(self, token: str) -> str:
        """Return an action in the official spelling: I_TURN_LEFT for LTURN."""
        return scan_language.official_spelling(token)

    def statistics(self, split: Split) -> dict[str, float]:
        """Return the share of test inputs that also occur in train or validation."""
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


SPLITS = {task.name: task for task in map(_mirror, scan.SPLITS.values())}
FILES = own_files(
    SPLITS["nacs/simple"],
    "nacs/files",
    summary="your own actions and commands, checked by the grammar",
)
TASKS: Mapping[str, Task[Any]] = {**SPLITS, FILES.name: FILES}
