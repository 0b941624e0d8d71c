"""Mean, standard deviation, standard error and range of a score over runs."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import fmean, pstdev, stdev
from typing import Any

from daxy.core.display import Brief


@dataclass(frozen=True, kw_only=True)
class Summary(Brief):
    """A score over one or more runs."""

    runs: tuple[float, ...]
    """The score of each run."""

    @property
    def _brief(self) -> str:
        count = f"{len(self.runs)} run{'s' * (len(self.runs) > 1)}"
        return f"mean {self.mean:.4g}, standard deviation {self.deviation:.2g}, {count}"

    @property
    def mean(self) -> float:
        """The mean over runs."""
        return fmean(self.runs)

    @property
    def deviation(self) -> float:
        """The population standard deviation over runs, as in the papers.

        In Table 9 of Bastings et al. (2018), 66.7 +- 5.9 over three runs of eight sentences must be
        62.5, 62.5 and 75.0, whose sample deviation is 7.2.
        """
        return pstdev(self.runs)

    @property
    def sem(self) -> float | None:
        """The standard error of the mean, of the sample; None of a single run."""
        return stdev(self.runs) / sqrt(len(self.runs)) if len(self.runs) > 1 else None

    @property
    def min(self) -> float:
        """The minimum over runs."""
        return min(self.runs)

    @property
    def max(self) -> float:
        """The maximum over runs."""
        return max(self.runs)

    def text(self, digits: int = 1, unit: float = 100.0) -> str:
        """Return the mean, with the deviation of several runs: `97.3 ±0.2`, in per cent."""
        figures = (self.mean, self.deviation) if len(self.runs) > 1 else (self.mean,)
        return " ±".join(f"{unit * figure:.{digits}f}" for figure in figures)

    @property
    def as_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "mean": self.mean,
            "standard_deviation": self.deviation,
            "sem": self.sem,
            "min": self.min,
            "max": self.max,
            "runs": list(self.runs),
        }
