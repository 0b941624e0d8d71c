"""What an analysis is: from the folders of runs to a table and a picture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from daxy import tasks
from daxy.core.display import Brief, table
from daxy.core.errors import WrongRequest, require
from daxy.core.summary import Summary
from daxy.report._figure import new_figure
from daxy.reproduction import published
from daxy.reproduction.resolve import settings_of
from daxy.runs.folder import RunFolder

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from daxy.report.mistakes import Mistakes

PANEL, BAR = 5.0, 0.25
"""Inches that a panel has across at least, and for each bar."""
ACROSS = 4
"""Panels of a course beside each other."""
LEGEND = 7.0
"""Inches that the key below the panels has across at least."""
LETTER = 0.08
"""Inches that a letter of a name below a panel takes, where names stand upright."""
CROWDED = 50
"""Letters below a panel for which there is no room side by side."""
MANY, SOME = 40, 10
"""Numbers below a panel of which not each is written, and about how many are then."""
OTHERS = ("o", "^", "s", "v")
"""How other metrics are marked in a picture."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the findings: some examples, and how well they were done, for one."""

    group: str
    """What is shown of it: `by actions`, for one."""
    name: str
    value: Summary
    examples: int | None = None
    """How many it is of."""
    chance: float | None = None
    """What guessing would come to."""
    others: Mapping[str, Summary] = field(default_factory=dict[str, Summary])
    """The same by the task's other ways to be right, by metric."""


@dataclass(frozen=True, kw_only=True)
class Findings(Brief):
    """What an analysis found."""

    title: str
    rows: tuple[Row, ...]
    measure: str = "right (%)"
    """What the values are."""
    top: float = 102
    """Where the picture's scale ends."""
    is_course: bool = False
    """Whether names are numbers, along which the values run."""
    published: Mapping[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    """What papers say of the same network, by group and name; of more than was found, perhaps."""
    spreads: Mapping[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    """What stands after ± beside it, where something does."""
    notes: tuple[str, ...] = ()
    """What papers say besides."""
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
    def groups(self) -> dict[str, list[Row | str]]:
        """The rows of each group, and the names of what only papers speak of."""
        groups: dict[str, list[Row | str]] = {}
        for row in self.rows:
            groups.setdefault(row.group, []).append(row)
        found = {(row.group, row.name) for row in self.rows}
        for group, name in self.published:
            if (group, name) not in found:
                groups.setdefault(group, []).append(name)
        return groups

    def draw(self) -> Figure:
        """Return a picture: a panel a group, a bar a row; or a line over a course."""
        groups = self.groups
        others = dict.fromkeys(name for row in self.rows for name in row.others)
        named = {
            group: [row.name if isinstance(row, Row) else row for row in shown]
            for group, shown in groups.items()
        }
        bars = [] if self.is_course else list(named.values())
        thinned = [names for names in bars if len(names) > MANY and all(map(str.isdecimal, names))]
        each = [names for names in bars if names not in thinned]
        crowded = [names for names in each if sum(len(name) + 2 for name in names) > CROWDED]
        longest = max((len(name) for names in crowded for name in names), default=0)
        needs = [BAR * len(names) if names in each else PANEL for names in bars]
        widths = [max(PANEL, need) for need in needs] or [PANEL] * len(groups)
        has_chance = any(row.chance is not None for row in self.rows)
        has_key = bool(self.published or has_chance or others)
        across = ACROSS if self.is_course else len(groups)
        high, least = 4 + LETTER * longest, LEGEND * has_key
        figure, panels = _panels(widths, across, high=high, least=least)
        for axes, (group, shown) in zip(panels, groups.items(), strict=True):
            rows = [row for row in shown if isinstance(row, Row)]
            names = named[group]
            (_course if self.is_course else _bars)(axes, rows)
            for metric, mark in zip(others, OTHERS, strict=False):
                values = {row.name: row.others[metric].mean for row in rows if row.others}
                axes.plot([*values], [*values.values()], mark, color="tab:green", markersize=4)
            guessed = {row.name: row.chance for row in rows if row.chance is not None}
            if guessed:
                axes.plot([*guessed], [*guessed.values()], "_", color="black", markersize=14)
            printed = {name: self.published.get((group, name)) for name in names}
            printed = {name: value for name, value in printed.items() if value is not None}
            if printed:
                axes.plot([*printed], [*printed.values()], "D", color="tab:orange")
            axes.set(xlabel=group, ylabel=self.measure, ylim=(0, self.top))
            axes.tick_params(axis="x", rotation=90 if names in crowded else 0)
            if names in thinned:
                places = range(0, len(names), -(-len(names) // SOME))
                axes.set_xticks(places, [names[place] for place in places])
        if has_key:
            has_errors = any(row.value.sem is not None for row in self.rows)
            has = {"has_errors": has_errors, "has_chance": has_chance}
            handles = _key(others, **has, has_printed=bool(self.published))
            figure.legend(handles=handles, loc="outside lower center", ncols=4)
        figure.suptitle(self.title)
        return figure


def _panels(
    widths: Sequence[float], across: int, *, high: float, least: float
) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels of these widths in rows of so many, all sizes in inches.

    Args:
        widths: Of each panel; where there are several rows they are alike.
        across: Panels of a row at most.
        high: The height of a row.
        least: How wide the figure is at least.
    """
    columns = min(across, len(widths))
    rows, first = -(-len(widths) // columns), widths[:columns]
    figure = new_figure(max(least, sum(first)), rows * high)
    panels = figure.subplots(rows, columns, squeeze=False, width_ratios=first).ravel()
    for axes in panels[len(widths) :]:
        axes.set_axis_off()
    return figure, list(panels[: len(widths)])


def _bars(axes: Axes, rows: Sequence[Row]) -> None:
    """Draw a bar a row, with its standard error."""
    means, errors = ([getattr(row.value, it) or 0 for row in rows] for it in ("mean", "sem"))
    axes.bar([row.name for row in rows], means, yerr=errors, color="tab:blue", alpha=0.8)


def _course(axes: Axes, rows: Sequence[Row]) -> None:
    """Draw a thin line a run, and a thick one for their mean."""
    across = [float(row.name) for row in rows]
    for runs in zip(*(row.value.runs for row in rows), strict=True):
        axes.plot(across, runs, color="tab:blue", alpha=0.3, linewidth=1)
    axes.plot(across, [row.value.mean for row in rows], color="tab:blue", marker=".")
    axes.locator_params(axis="x", nbins=5)


def _key(
    others: Iterable[str], *, has_errors: bool, has_chance: bool, has_printed: bool
) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    mark = partial(Line2D, [], [], linestyle="")
    measured = Patch(color="tab:blue", alpha=0.8, label="measured" + ", with its SEM" * has_errors)
    besides = [
        mark(marker=shape, color="tab:green", markersize=4, label=name)
        for name, shape in zip(others, OTHERS, strict=False)
    ]
    chance = [mark(marker="_", color="black", markersize=14, label="chance")] * has_chance
    printed = [mark(marker="D", color="tab:orange", label="published")] * has_printed
    return [measured, *besides, *chance, *printed]


class Analysis(ABC):
    """One way to look at finished runs."""

    name: ClassVar[str]
    selects: ClassVar[Literal["test", "source", "word"]] = "test"
    """What `of` names, and so the flag for it: tests, sources, or words of sources."""

    @abstractmethod
    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return the findings on runs that differ in their seeds alone.

        Args:
            folders: Of finished runs.
            of: Sources to look at, or tests by name, where the analysis looks at some; its own
                choice if none.

        Raises:
            WrongRequest: the runs cannot be looked at like that.
            RunFailed: a folder is damaged.
        """

    def beside(
        self, findings: Findings, folders: Sequence[RunFolder], of: Sequence[str] = ()
    ) -> Findings:
        """Return findings with what papers say of the same learner on the same task.

        Where some tests are looked at, by name, nothing is said of the others.
        """
        config = folders[0].config()
        said = published.findings(self.name, config.task, config.learner, config.options)
        said = [each for each in said if not each.test or not of or each.test in of]
        values = {place: value for each in said for place, value in each.values.items()}
        spreads = {place: value for each in said for place, value in each.spreads.items()}
        own = _steps(config.learner)
        theirs = {_steps(settings_of(each.recipe)) for each in said} - {own}
        notes = [f"Published: after {most:,} steps; these runs: {own:,}." for most in theirs]
        notes += [each.note for each in said if each.note]
        return replace(findings, published=values, spreads=spreads, notes=tuple(notes))

    def on(self, official: Path) -> Analysis:  # noqa: ARG002 - for those that need the data again
        """Return the same analysis, of runs on official files: it finds their data there.

        Raises:
            WrongRequest: it looks at nothing but what is in the run folders.
        """
        raise WrongRequest(f"{self.name} reads run folders alone; leave out --official")

    def refuse(self, of: Sequence[str]) -> None:
        """Refuse sources to look at, where all of the test set is looked at."""
        require(not of, f"{self.name} analyses the whole test set, not {', '.join(of)}")

    def refuse_worlds(self, task: str) -> None:
        """Refuse a task whose commands are said in worlds, where sources alone are looked at."""
        seen = tasks.get(task).grounded
        require(not seen, f"{self.name} is for sources of words alone; {task} has worlds")


def _steps(settings: Mapping[str, Any]) -> int:
    """Return the training steps of a budget of steps; 0 for another."""
    return settings.get("training", {}).get("budget", {}).get("steps", 0)
