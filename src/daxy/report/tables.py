"""A published table with the measured values beside it, for a terminal and a notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, overload

from daxy import papers
from daxy.core import display
from daxy.papers import Table, TableCell
from daxy.report.comparison import RULE, Comparison
from daxy.reproduction.entry import Entry
from daxy.reproduction.ledger import Ledger, Runs
from daxy.training.protocols import protocol

if TYPE_CHECKING:
    from rich.console import Group

RETRAINED = (
    "Retrained: the same runs, trained again for a score that the first lacked; they do not count."
)
SELECTED = (
    "Selected: the run with the lowest training perplexity; it alone is compared, without a spread."
)
HEAD = (
    *("row", "column", "published", "measured", "SEM", "min", "max", "diff.", "verdict"),
    "each seed",
)
LEFT = ("row", "column", "verdict", "each seed")
"""Columns that are aligned to the left."""
VERDICTS = {"agrees": "green", "overlaps": "yellow", "differs": "red", "not printed": ""}
"""Style of a row by its verdict; rows with any other verdict are dim."""


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
        verdicts = ("agrees", "overlaps", "differs")
        counted = [f"{counts[name]} {name.rstrip('s')}" for name in verdicts if counts[name]]
        measured = sum(bool(cell.scores) for cell in self.cells)
        sizes = f"{len(self)} cells, {measured} measured"
        return f"{self.table.path}: {'; '.join(filter(None, (sizes, ', '.join(counted))))}"

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


def compare(cells: Iterable[TableCell], runs: Runs) -> list[Comparison]:
    """Return the published values, each with its measured runs."""
    return [_comparison(cell, runs) for cell in cells]


def _comparison(cell: TableCell, runs: Runs) -> Comparison:
    entries, most_steps = runs.of(cell), _most_steps(cell)
    scores = _scores(cell, entries)
    return Comparison(
        cell=cell,
        scores=scores,
        selected=_selected(cell, entries, scores),
        retrained=_scores(cell, runs.again(cell)),
        steps=tuple(run.steps for run in entries if most_steps),
        stopped_early=tuple(
            run.steps < most_steps and not run.diverged for run in entries if most_steps
        ),
        diverged=tuple(runs.diverged(cell)),
    )


def _scores(cell: TableCell, entries: Sequence[Entry]) -> tuple[float, ...]:
    recipe = cell.recipe
    return tuple(recipe.unit * entry.score_of(recipe) for entry in entries) if recipe else ()


def _selected(cell: TableCell, entries: Sequence[Entry], scores: Sequence[float]) -> float | None:
    """Return the score of the selected run; None if none is, or one has no perplexity."""
    known = [entry.perplexity for entry in entries if entry.perplexity is not None]
    if not cell.is_chosen or not known or len(known) < len(entries):
        return None
    return scores[known.index(min(known))]


def _most_steps(cell: TableCell) -> int:
    """Return the maximum steps of a cell's runs; 0 where they cannot stop early."""
    if cell.recipe is None or "steps" in cell.recipe.protocol_changes:
        return 0
    usual = protocol(cell.recipe.protocol)
    return usual.total_steps if usual.selection.early_stopping else 0


def for_terminal(table: Table, comparisons: Sequence[Comparison]) -> Group:
    """Return the comparisons of cells of a table, with its title, notes and the rule, for rich."""
    from rich.console import Group
    from rich.table import Table as Columns

    columns = Columns(box=None, pad_edge=False, collapse_padding=True)
    for name in HEAD:
        columns.add_column(name, justify="left" if name in LEFT else "right")
    for comparison in comparisons:
        columns.add_row(*comparison.texts, style=VERDICTS.get(comparison.verdict, "dim"))
    notes = [table.note] if table.note else []
    compared = any(each.difference is not None for each in comparisons)
    notes += [f"Why values differ: {table.differences}"] if compared and table.differences else []
    notes += seed_notes(comparisons)
    return Group(f"{table.path}: {table.title}", "", columns, "", *notes, f"{RULE}.")


def seed_notes(comparisons: Sequence[Comparison]) -> list[str]:
    """Return what `selected` and `retrained` mean, where they occur."""
    notes = [SELECTED] if any(each.selected is not None for each in comparisons) else []
    return notes + [RETRAINED] * any(each.retrained for each in comparisons)
