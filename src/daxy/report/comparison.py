"""Measured values beside a published one, and the verdict.

Measured **agrees** with published when the distance is at most the published spread, or the least
difference that counts: half a point where whole points are printed, else one of the last digit.
The measured value is the mean over runs, or the selected run where the paper selected one. Beyond
that it **overlaps** while the distance is at most the sum of both spreads; else it **differs**. A
spread is the standard deviation over runs, of the population, as in the papers. A selected run has
no spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from daxy.core.display import Brief
from daxy.core.summary import Summary
from daxy.papers import TableCell

Verdict = Literal[
    "agrees", "overlaps", "differs", "not measured", "quoted", "not printed", "not selected"
]

ROUNDING = {0: 0.5, 1: 0.1, 2: 0.01}
"""Least difference that counts, in points, by the number of printed digits after the point."""
RULE = (
    "agrees: the distance is at most the published spread (±, a standard deviation over runs) or"
    f" {ROUNDING[1]} points ({ROUNDING[0]} for whole points, {ROUNDING[2]} for hundredths);"
    " overlaps: it is at most the sum of both spreads; differs: it is greater"
)
PER_CENT = "per cent"
FEW_SEEDS = 5
"""A spread of fewer seeds is named as such."""


def unit_of(cell: TableCell) -> str:
    """Return the unit of a cell's values: `per cent`, or the name of a metric that is no share."""
    recipe = cell.recipe
    return PER_CENT if recipe is None or recipe.unit > 1 else recipe.metric


@dataclass(frozen=True, kw_only=True)
class Comparison(Brief):
    """One published value and the measured ones, in the cell's unit."""

    cell: TableCell
    scores: tuple[float, ...]
    """One per seed; empty if nothing is measured."""
    retrained: tuple[float, ...] = ()
    """Scores of retrained runs: shown, but not averaged."""
    steps: tuple[int, ...] = ()
    """Training steps of each run, of protocols with early stopping."""
    stopped_early: tuple[bool, ...] = ()
    """Whether each of them stopped early; others diverged or trained to the end."""
    selected: float | None = None
    """Score of the run with the lowest training perplexity, where the paper selected by that: the
    one to compare."""
    diverged: tuple[int, ...] = ()
    """Seeds of runs that diverged after their selected weights, with or without a score."""

    @property
    def _brief(self) -> str:
        measured = self._statistics[0] or "nothing"
        published = self.cell.printed or "nothing"
        return f"{self.cell}: {measured} measured, {published} published, {self.verdict}"

    @property
    def summary(self) -> Summary | None:
        """Statistics over seeds; None if nothing is measured."""
        return Summary(runs=self.scores) if self.scores else None

    @property
    def has_few_seeds(self) -> bool:
        """Whether the spread is of so few runs that it is itself uncertain."""
        return 1 < len(self.scores) < FEW_SEEDS

    @property
    def difference(self) -> float | None:
        """Measured minus published, of the selected run where the paper selected one."""
        if self.summary is None or self.cell.value is None:
            return None
        measured = self.selected if self.cell.is_chosen else self.summary.mean
        return None if measured is None else measured - self.cell.value

    @property
    def verdict(self) -> Verdict:
        """Verdict by the rule at the top; `quoted` for values that the paper has from elsewhere.

        `not selected` where not all runs have a perplexity.
        """
        if self.cell.recipe is None:
            return "quoted"
        if self.summary is None:
            return "not measured"
        if self.difference is None:
            return "not printed" if self.cell.value is None else "not selected"
        distance = abs(self.difference) - 1e-9
        allowed = max(ROUNDING.get(self.cell.digits, 0.0), self.cell.spread or 0.0)
        if distance <= allowed:
            return "agrees"
        spread = 0.0 if self.cell.is_chosen else self.summary.deviation
        return "overlaps" if distance <= allowed + spread else "differs"

    @property
    def texts(self) -> tuple[str, ...]:
        """Cells of its row in a table, in the order of `tables.HEAD`."""
        difference = "" if self.difference is None else f"{self.difference:+z.{self._digits}f}"
        published = (self.cell.row, self.cell.column, self.cell.printed)
        return (*published, *self._statistics, difference, self.verdict, self.seeds)

    @property
    def measured(self) -> str:
        """Mean and standard deviation over seeds, after the selected run where there is one."""
        mean = self._statistics[0]
        if self.selected is None or len(self.scores) < 2:
            return mean
        return f"{self._rounded(self.selected)} (mean {mean})"

    @property
    def seeds(self) -> str:
        """Value of each seed, then notes on the runs."""
        count, notes = len(self.scores), [self._joined(self.scores)]
        if self.selected is not None and count > 1:
            notes.append(f"selected {self._rounded(self.selected)}")
        if 0 < count < (self.cell.runs or 0):
            notes.append(f"{count} of {self.cell.runs} runs")
        elif self.has_few_seeds:
            notes.append(f"{count} seeds")
        if self.steps:
            ends = zip(self.stopped_early, self.steps, strict=True)
            steps = " ".join(f"{'' if early else '>'}{step:,}" for early, step in ends)
            notes.append(f"stopped after {steps} steps")
        if self.retrained:
            notes.append(f"retrained {self._joined(self.retrained)}")
        if self.diverged:
            notes.append(f"seed {', '.join(map(str, self.diverged))} diverged")
        return "; ".join(filter(None, notes))

    @property
    def _statistics(self) -> tuple[str, str, str, str]:
        """Mean with deviation, SEM, minimum and maximum."""
        summary = self.summary
        if summary is None:
            return ("", "", "", "")
        sem = "" if summary.sem is None else self._rounded(summary.sem)
        extremes = self._rounded(summary.min), self._rounded(summary.max)
        return (summary.text(self._digits, unit=1), sem, *extremes)

    @property
    def _digits(self) -> int:
        """Digits after the point: as many as the paper prints, at least one."""
        return max(1, self.cell.digits)

    def _rounded(self, value: float) -> str:
        return f"{value:.{self._digits}f}"

    def _joined(self, values: tuple[float, ...]) -> str:
        return " ".join(map(self._rounded, values))

    @property
    def as_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "row": self.cell.row,
            "column": self.cell.column,
            "task": None if self.cell.recipe is None else self.cell.recipe.task,
            "published": {"value": self.cell.value, "spread": self.cell.spread},
            "measured": self.summary.as_json if self.summary else None,
            "selected": self.selected,
            "few_seeds": self.has_few_seeds,
            "retrained": list(self.retrained),
            "steps": list(self.steps),
            "stopped_early": list(self.stopped_early),
            "diverged": list(self.diverged),
            "difference": self.difference,
            "verdict": self.verdict,
        }
