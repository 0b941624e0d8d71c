"""An analysis: from the folders of finished runs to a table and a figure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from daxy import tasks
from daxy.core.display import Brief, table
from daxy.core.errors import WrongRequest, require
from daxy.core.summary import Summary
from daxy.report import baselines
from daxy.reproduction import published
from daxy.reproduction.ledger import measured_folder
from daxy.reproduction.resolve import settings_of
from daxy.runs.config import RunConfig
from daxy.runs.folder import RunFolder

if TYPE_CHECKING:
    from daxy.report.mistakes import Mistakes

ACCURACY = "right (%)"


@dataclass(frozen=True, kw_only=True)
class Row:
    """Accuracy, or another measure, on some examples."""

    group: str
    """Criterion that groups the examples, such as `tokens in the target`."""
    name: str
    """Name of the row within its group."""
    value: Summary
    examples: int | None = None
    """Number of examples."""
    chance: float | None = None
    """Value of guessing."""
    others: Mapping[str, Summary] = field(default_factory=dict[str, Summary])
    """Values by each other metric of the task, by its name."""


@dataclass(frozen=True, kw_only=True)
class AnalysisResult(Brief):
    """Result of an analysis."""

    title: str
    rows: tuple[Row, ...]
    measure: str = ACCURACY
    """Name of the values, with their unit."""
    y_max: float = 102
    """End of the figure's vertical axis."""
    is_curve: bool = False
    """Whether names are numbers, and values a curve over them."""
    published: Mapping[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    """Published values for the same network by group and name, maybe of further rows."""
    spreads: Mapping[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    """Published numbers after ±."""
    notes: tuple[str, ...] = ()
    """Notes on published values and baselines."""
    baselines: Mapping[str, float] = field(default_factory=dict[str, float])
    """Scores of baselines on the whole test set in per cent, by learner."""
    mistakes: Mistakes | None = None
    """Wrong answers, for an analysis that lists them."""

    @property
    def _brief(self) -> str:
        return self.title

    def _repr_html_(self) -> str:
        """Return the rows as an HTML table, for a notebook."""
        head = ("group", "name", "examples", self.measure)
        rows = [
            (row.group, row.name, row.examples or "", row.value.text(unit=1)) for row in self.rows
        ]
        return table(head, rows, title=self.title, note=" ".join(self.notes))

    @property
    def groups(self) -> dict[str, dict[str, Row | None]]:
        """Rows by group and name; None for a row that only papers have."""
        groups: dict[str, dict[str, Row | None]] = {}
        for row in self.rows:
            groups.setdefault(row.group, {})[row.name] = row
        for group, name in self.published:
            groups.setdefault(group, {}).setdefault(name, None)
        return groups


class Analysis(ABC):
    """An analysis of finished runs of one learner on one task."""

    name: ClassVar[str]
    selects: ClassVar[Literal["test", "source", "word"]] = "test"
    """Kind of the names in `selection`, and the flag for them."""

    @abstractmethod
    def run(self, folders: Sequence[RunFolder], selection: Sequence[str] = ()) -> AnalysisResult:
        """Return the result for runs that differ only in their seeds.

        Args:
            folders: Folders of finished runs.
            selection: Names of tests, sources or words of sources (see `selects`) to analyse; the
                analysis's default if empty.

        Raises:
            WrongRequest: the analysis does not apply to the runs.
            RunFailed: a folder is damaged.
        """

    def with_published(
        self, result: AnalysisResult, folders: Sequence[RunFolder], selection: Sequence[str] = ()
    ) -> AnalysisResult:
        """Return a result with published values for the same learner and task, and baselines.

        Values for tests outside a selection of tests are left out.
        """
        config = folders[0].config()
        findings = published.findings(self.name, config.task, config.learner, config.options)
        findings = [it for it in findings if not it.test or not selection or it.test in selection]
        steps = _steps(config.learner)
        published_steps = {_steps(settings_of(each.recipe)) for each in findings} - {steps}
        notes = [f"Published: after {it:,} steps; these runs: {steps:,}." for it in published_steps]
        notes += [each.note for each in findings if each.note]
        is_accuracy = result.measure == ACCURACY
        return replace(
            result,
            published={key: it for each in findings for key, it in each.values.items()},
            spreads={key: it for each in findings for key, it in each.spreads.items()},
            notes=tuple(notes),
            baselines=_baselines(config) if is_accuracy and not selection else {},
        )

    def with_official(self, official: Path) -> Analysis:  # noqa: ARG002 - `DataAnalysis` needs it
        """Return the same analysis for runs on official files.

        Raises:
            WrongRequest: the analysis reads only run folders.
        """
        raise WrongRequest(f"{self.name} reads run folders alone; leave out --official")

    def refuse_selection(self, selection: Sequence[str]) -> None:
        """Refuse a selection: the analysis is of the whole test set."""
        require(
            not selection, f"{self.name} analyses the whole test set, not {', '.join(selection)}"
        )

    def refuse_worlds(self, task: str) -> None:
        """Refuse a task with worlds: the analysis is of sources of words alone."""
        has_worlds = tasks.get(task).grounded
        require(not has_worlds, f"{self.name} is for sources of words alone; {task} has worlds")


def _steps(settings: Mapping[str, Any]) -> int:
    """Return the training steps of a budget of steps; 0 for another."""
    return settings.get("training", {}).get("budget", {}).get("steps", 0)


def _baselines(config: RunConfig) -> dict[str, float]:
    """Return the baselines on the test set of a run; none if its data is not the default."""
    task = tasks.get(config.task)
    is_default = config.data["source"] == "generated"
    if is_default and baselines.has_default_test(task.name, config.options):
        return baselines.scores(measured_folder(), task.name, task.metric)
    return {}


@dataclass(frozen=True)
class DataAnalysis(Analysis):
    """An analysis that needs data beyond what run folders hold."""

    official: Path | None = None
    """Official files that the runs were trained on; None for generated data."""

    def with_official(self, official: Path) -> Self:
        """Return the same analysis for runs on official files."""
        return replace(self, official=official)
