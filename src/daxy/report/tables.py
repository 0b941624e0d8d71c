"""A published table with the measured figures beside it, for a terminal.

The verdict is by one rule: measured **agrees** with published when its mean, or the run that is
chosen as the paper's was, is within the published spread, or within about what rounding can make
of it: half a point where whole ones are printed, else one of the last digit. Further off it
**overlaps** while they are no further apart than the two spreads together; else it **differs**. The
spread is the standard deviation over runs, of the population, as the papers' own; a run that is
chosen has none, as those that were not chosen say nothing for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from daxy import papers
from daxy.core import display
from daxy.core.summary import Summary
from daxy.papers import Cell, Table
from daxy.reproduction.entry import Entry
from daxy.reproduction.ledger import Ledger, Runs
from daxy.training.protocols import protocol

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, RenderResult
    from rich.table import Table as Columns

Verdict = Literal[
    "agrees", "overlaps", "differs", "not measured", "quoted", "not printed", "not selected"
]

ROUNDING = {0: 0.5, 1: 0.1, 2: 0.01}
"""Points, by how many digits are printed after them: the least difference that counts as one."""
RULE = (
    "agrees: the distance is at most the published spread (±, a standard deviation over runs) or"
    f" {ROUNDING[1]} points ({ROUNDING[0]} for whole points, {ROUNDING[2]} for hundredths);"
    " overlaps: it is at most the sum of both spreads; differs: it is greater"
)
RETRAINED = (
    "Retrained: the same runs, trained again for a score that the first lacked; they do not count."
)
SELECTED = (
    "Selected: the run with the lowest training perplexity; it alone is compared, without a spread."
)
HEAD = (
    *("row", "column", "published", "measured", "SEM", "min", "max", "difference", "verdict"),
    "each seed",
)
VERDICTS: tuple[Verdict, ...] = ("agrees", "overlaps", "differs")
"""Verdicts on measured values, from the best."""
FEW_SEEDS = 5
"""A spread of fewer seeds is named as such."""
ROOM = {"SEM": 120, "min": 120, "max": 120, "difference": 100}
"""How wide a terminal has to be to be shown what others are spared."""
WORDS = ("row", "column", "verdict", "each seed")
STYLES = {
    "agrees": "green",
    "overlaps": "yellow",
    "differs": "red",
    "not measured": "dim",
    "quoted": "dim",
    "not printed": "",
    "not selected": "dim",
}


@dataclass(frozen=True, kw_only=True)
class Comparison(display.Brief):
    """One published score and the measured ones, in per cent, or a perplexity."""

    cell: Cell
    scores: tuple[float, ...]
    """One a seed; none where nothing was measured yet."""
    retrained: tuple[float, ...] = ()
    """Scores of runs that were trained again: shown and not counted."""
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
        measured = self._measured[0] or "nothing"
        published = self.cell.printed or "nothing"
        return f"{self.cell}: {measured} measured, {published} published, {self.verdict}"

    @property
    def summary(self) -> Summary | None:
        """What was measured; None where nothing was yet."""
        return Summary(runs=self.scores) if self.scores else None

    @property
    def has_few_seeds(self) -> bool:
        """Whether the spread is of so few runs that it is itself uncertain."""
        return 1 < len(self.scores) < FEW_SEEDS

    @property
    def difference(self) -> float | None:
        """Measured minus published: of the run that is chosen, where one is to be."""
        if self.summary is None or self.cell.value is None:
            return None
        measured = self.selected if self.cell.is_chosen else self.summary.mean
        return None if measured is None else measured - self.cell.value

    @property
    def verdict(self) -> Verdict:
        """By the rule at the top; `quoted` for figures that the paper has from elsewhere.

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
        own = 0.0 if self.cell.is_chosen else self.summary.deviation
        return "overlaps" if distance <= allowed + own else "differs"

    @property
    def texts(self) -> tuple[str, ...]:
        """What the table prints for it, in the order of `HEAD`."""
        difference = "" if self.difference is None else f"{self.difference:+z.{self._digits}f}"
        published = (self.cell.row, self.cell.column, self.cell.printed)
        return (*published, *self._measured, difference, self.verdict, self.seeds)

    @property
    def measured(self) -> str:
        """Mean and standard deviation over seeds, after the selected run where there is one."""
        if self.summary is None:
            return ""
        over_seeds = self.summary.text(self._digits, unit=1)
        if self.selected is None or len(self.scores) == 1:
            return over_seeds
        return f"{self._figure(self.selected)} (mean {over_seeds})"

    @property
    def seeds(self) -> str:
        """Each seed's value, and what a reader has to know about the runs."""
        seeds, again = (" ".join(map(self._figure, each)) for each in (self.scores, self.retrained))
        ends = zip(self.stopped_early, self.steps, strict=True)
        ended = " ".join(f"{'' if has else '>'}{after:,}" for has, after in ends)
        chosen = self.selected if len(self.scores) > 1 else None
        said = seeds if chosen is None else f"{seeds}; selected {self._figure(chosen)}"
        if 0 < len(self.scores) < (self.cell.runs or 0):
            said += f"; {len(self.scores)} of {self.cell.runs} runs"
        elif self.has_few_seeds:
            said += f"; {len(self.scores)} seeds"
        said += f"; stopped after {ended} steps" if ended else ""
        said += f"; retrained {again}" if again else ""
        if self.diverged:
            said += f"; seed {', '.join(map(str, self.diverged))} diverged"
        return said.removeprefix("; ")

    @property
    def _measured(self) -> tuple[str, ...]:
        found = self.summary
        if found is None:
            return ("", "", "", "")
        sem = "" if found.sem is None else self._figure(found.sem)
        extremes = map(self._figure, (found.min, found.max))
        return (found.text(self._digits, unit=1), sem, *extremes)

    @property
    def _digits(self) -> int:
        """As many as the paper prints, at least one."""
        return max(1, self.cell.digits)

    def _figure(self, value: float) -> str:
        return f"{value:.{self._digits}f}"

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


@dataclass(frozen=True, eq=False)
class ComparedTable(Sequence[Comparison], display.Brief):
    """A published table with the measured values."""

    table: Table
    cells: tuple[Comparison, ...]

    @overload
    def __getitem__(self, index: int) -> Comparison: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Comparison, ...]: ...
    def __getitem__(self, index: int | slice) -> Comparison | tuple[Comparison, ...]:
        return self.cells[index]

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def _brief(self) -> str:
        counts = Counter(cell.verdict for cell in self.cells)
        verdicts = [f"{counts[name]} {name.rstrip('s')}" for name in VERDICTS if counts[name]]
        measured = sum(bool(cell.scores) for cell in self.cells)
        sizes = f"{len(self)} cells, {measured} measured"
        return f"{self.table.path}: {'; '.join(filter(None, (sizes, ', '.join(verdicts))))}"

    def _repr_html_(self) -> str:
        """Return the published and measured values as an HTML table, for a notebook."""
        head = ("row", "column", "published", "measured", "n", "verdict")
        rows = [(*cell.texts[:4], len(cell.scores) or "", cell.verdict) for cell in self.cells]
        note = ". ".join(filter(None, (self.table.note, RULE)))
        title = f"{self.table.path}: {self.table.title}"
        return display.table(head, rows, title=title, note=note)


def table(name: str, results: Path | str = "results") -> ComparedTable:
    """Return a published table with the measured values.

        >>> daxy.table("bastings2018/table4")

    Args:
        name: The table, as `daxy papers` names it.
        results: Folder of the measured runs, one JSON file a table.

    Raises:
        UnknownName: there is no such paper or table.
        WrongFile: a file of results is damaged.
    """
    printed = papers.table(name)
    runs = Ledger(Path(results)).runs(papers.get(printed.paper))
    return ComparedTable(printed, tuple(compare(printed.cells, runs)))


def compare(cells: Iterable[Cell], runs: Runs) -> list[Comparison]:
    """Return the published figures, each with the runs that were measured for it."""

    def scores(cell: Cell, found: Iterable[Entry]) -> tuple[float, ...]:
        recipe = cell.recipe
        return tuple(recipe.unit * each.score_of(recipe) for each in found) if recipe else ()

    def selected(cell: Cell, found: Sequence[Entry]) -> float | None:
        known = [each.perplexity for each in found if each.perplexity is not None]
        if not cell.is_chosen or not known or len(known) < len(found):
            return None
        return scores(cell, found)[known.index(min(known))]

    def most(cell: Cell) -> int:
        """Return the maximum steps of a cell's runs; 0 where they cannot stop early."""
        if cell.recipe is None or "steps" in cell.recipe.protocol_changes:
            return 0
        usual = protocol(cell.recipe.protocol)
        return usual.total_steps if usual.selection.early_stopping else 0

    return [
        Comparison(
            cell=cell,
            scores=scores(cell, runs.of(cell)),
            selected=selected(cell, runs.of(cell)),
            retrained=scores(cell, runs.again(cell)),
            steps=tuple(run.steps for run in runs.of(cell) if most(cell)),
            stopped_early=tuple(
                run.steps < most(cell) and not run.diverged for run in runs.of(cell) if most(cell)
            ),
            diverged=tuple(runs.diverged(cell)),
        )
        for cell in cells
    ]


def for_terminal(table: Table, comparisons: Sequence[Comparison]) -> Group:
    """Return the comparisons of cells of a table, with its title, notes and the rule, for rich."""
    from rich.console import Group

    shown = _Columns(comparisons)
    notes = [table.note] if table.note else []
    compared = any(each.difference is not None for each in comparisons)
    notes += [f"Why values differ: {table.differences}"] if compared and table.differences else []
    notes += [SELECTED] if any(each.selected is not None for each in comparisons) else []
    notes += [RETRAINED] if any(each.retrained for each in comparisons) else []
    return Group(f"{table.path}: {table.title}", "", shown, "", *notes, f"{RULE}.")


@dataclass(frozen=True)
class _Columns:
    """The comparisons as rows; a narrow terminal is spared what the other columns tell."""

    comparisons: Sequence[Comparison]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console
        yield self.at(options.max_width)

    def at(self, width: int) -> Columns:
        """Return the table for a terminal of so many columns."""
        from rich.table import Table as Columns

        heads = [name for name in HEAD if width >= ROOM.get(name, 0)]
        shown = Columns(box=None, pad_edge=False)
        for name in heads:
            side = "left" if name in WORDS else "right"
            shown.add_column(name, justify=side, overflow="fold", no_wrap=name != HEAD[-1])
        for each in self.comparisons:
            texts = dict(zip(HEAD, each.texts, strict=True))
            shown.add_row(*(texts[name] for name in heads), style=STYLES[each.verdict])
        return shown
