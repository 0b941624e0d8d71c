"""What a published table is: figures as printed, and for each how it is reproduced here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from daxy.core.display import Brief
from daxy.core.errors import UnknownName, WrongRequest, require
from daxy.core.settings import added_field, added_mapping, to_dict

Value = str | int | float | bool | None
Part: TypeAlias = Literal["test", "validation", "length_oracle"]
"""`length_oracle`: the test set, decoded with the length of each target given."""
PERPLEXITY = "perplexity"
"""Name of the training perplexity, where a metric of a task is expected."""


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """How a figure is reproduced: names and overrides only, so that reading it imports nothing."""

    task: str
    """The task's name; with `{rep}` in it where each run has a repetition of the split."""
    model: str
    config: Mapping[str, Value]
    """What differs from the architecture's defaults, or decides between this row and others."""
    protocol: str
    """Name of the training recipe, with every field as it defines them."""
    metric: str
    """The score that the paper prints; `perplexity` is that of training."""
    data: Mapping[str, Value] = field(default_factory=dict[str, Value])
    """What differs from the task's published data."""
    protocol_changes: Mapping[str, Value] = added_mapping()
    """Settings that differ from the protocol."""
    geca: Mapping[str, Value] | None = added_field(None)
    """What differs from GECA's defaults; None for a learner without it."""
    repetitions: int = added_field(1)
    """How many repetitions of the split there are: the first is seed 0's, the next seed 1's."""
    test: str = added_field("")
    """Which of several tests the figure is of; unless given, of the whole test set."""
    part: Part = added_field("test")  # noqa: RUF009 - a text
    """On which part of the data the figure is; weights that another part selected may be scored on
    the validation set."""
    after_steps: int = added_field(0)
    """Steps after which the validation score is taken; 0 for a score of the selected weights."""

    def task_of(self, seed: int) -> str:
        """Return the name of the task that the run with this seed has."""
        return self.task.format(rep=seed % self.repetitions + 1)

    @property
    def tasks(self) -> list[str]:
        """The names of the tasks that runs have."""
        return [self.task_of(seed) for seed in range(self.repetitions)]

    @property
    def unit(self) -> float:
        """What a score is multiplied by to be the figure: scores are shares, but perplexity."""
        return 1.0 if self.metric == PERPLEXITY else 100.0

    @property
    def identity(self) -> str:
        """Return a text that two recipes share exactly when they have the same runs.

        A run is judged by every metric on all of its tests, and often on its validation set.
        """
        run = replace(self, metric="", test="", part="test", after_steps=0)
        return json.dumps(to_dict(run), sort_keys=True)


@dataclass(frozen=True, kw_only=True)
class TableCell(Brief):
    """One figure of a table."""

    paper: str
    table: str
    row: str
    column: str
    value: float | None
    """As printed: for accuracies in per cent; None where the paper prints nothing."""
    spread: float | None
    """What stands behind the +-; None where the paper prints none."""
    runs: int | None
    """How many runs the figure is of; None where the paper does not say."""
    recipe: RunSpec | None
    """None for a figure that the paper quotes from elsewhere."""
    digits: int = 1
    """How many digits are printed after the point."""
    is_chosen: bool = False
    """Whether the figure is of one run of several, the one of least training perplexity."""

    @property
    def printed(self) -> str:
        """The figure as the paper prints it."""
        # Nothing at all where the paper prints nothing.
        figures = [each for each in (self.value, self.spread) if each is not None]
        return " ±".join(f"{each:.{self.digits}f}" for each in figures)

    @property
    def _brief(self) -> str:
        return f"{self}: {self.printed or 'not printed'}"

    def __str__(self) -> str:
        return f"{self.paper}/{self.table}, {self.row}, {self.column}"


@dataclass(frozen=True, kw_only=True)
class Table(Brief):
    """One table of a paper: rows and columns in the printed order; some cells may be empty."""

    paper: str
    name: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[TableCell, ...]
    """Row by row."""
    note: str = ""
    """What a reader has to know: where the paper disagrees with itself, for one."""
    differences: str = ""
    """Why measured values differ from the published ones, in at most three lines."""
    is_printed: bool = True
    """Whether its figures are of what stands beside them, in print; a table of other runs repeats
    figures to compare with."""

    @property
    def _brief(self) -> str:
        return f"{self.path}: {len(self.rows)} rows, {len(self.columns)} columns; {self.title}"

    @property
    def path(self) -> str:
        """The name that users type: `bastings2018/table4`."""
        return f"{self.paper}/{self.name}"

    def row(self, name: str) -> str:
        """Return a row's name as printed; case, spaces and punctuation do not count.

        Raises:
            UnknownName: there is no such row.
        """
        return self._named("row", name, self.rows)

    def column(self, name: str) -> str:
        """Return a column's name; case, spaces and punctuation do not count.

        Raises:
            UnknownName: there is no such column.
        """
        return self._named("column", name, self.columns)

    def cell(self, row: str, column: str) -> TableCell:
        """Return one cell.

        Raises:
            UnknownName: there is no such row or column.
            WrongRequest: the paper prints nothing there.
        """
        return self._cells({self.row(row)}, {self.column(column)})[0]

    def select(self, rows: Sequence[str], columns: Sequence[str]) -> list[TableCell]:
        """Return the cells in these rows and columns, in the printed order; none given means all.

        What no row or column is named stands for all that begin with it.

        Raises:
            UnknownName: there is no such row or column.
            WrongRequest: the paper prints nothing there.
        """
        begun = self._begun
        wanted_rows = {each for name in rows for each in begun("row", name, self.rows)}
        wanted_columns = {each for name in columns for each in begun("column", name, self.columns)}
        return self._cells(wanted_rows or set(self.rows), wanted_columns or set(self.columns))

    def _cells(self, rows: set[str], columns: set[str]) -> list[TableCell]:
        found = [cell for cell in self.cells if cell.row in rows and cell.column in columns]
        if not found:
            place = f"{', '.join(sorted(rows))} and {', '.join(sorted(columns))}"
            raise WrongRequest(f"{self.path} prints nothing for {place}")
        return found

    def _begun(self, kind: str, name: str, known: Sequence[str]) -> list[str]:
        """Return the one of this name, or else those that begin with it, up to a word's end."""
        plain = _plain(name)
        begun = [each for each in known if plain and plain in _beginnings(each)]
        is_whole = plain in map(_plain, known) or not begun
        return [self._named(kind, name, known)] if is_whole else begun

    def _named(self, kind: str, name: str, known: Sequence[str]) -> str:
        plain = {_plain(each): each for each in known}
        if _plain(name) not in plain:
            raise UnknownName(kind, name, known, listing=f"daxy papers {self.path}")
        return plain[_plain(name)]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a paper says that an analysis of a network's runs found."""

    analysis: str
    """Its name here."""
    recipe: RunSpec
    """What the runs are runs of."""
    values: Mapping[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    """By the group and the name of what they are of, as the analysis calls them."""
    spreads: Mapping[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    """What stands after ± beside them, where something does."""
    note: str = ""
    """What it says without such a figure."""
    test: str = ""
    """The one of several tests that it is about, where it is about one."""


@dataclass(frozen=True, kw_only=True)
class Paper:
    """One paper with the tables that are entered here."""

    name: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    tables: tuple[Table, ...]
    findings: tuple[Finding, ...] = ()
    elsewhere: Mapping[str, str] = field(default_factory=dict[str, str])
    """The command that shows what the paper has in a table or figure that is not one of these."""
    differences: str = ""
    """Why measured values differ from the published ones, in one sentence."""

    @property
    def citation(self) -> str:
        """Authors, year, title and venue in one line."""
        *others, last = self.authors
        authors = f"{', '.join(others)} & {last}" if others else last
        return f"{authors} ({self.year}). {self.title}. {self.venue}."

    @property
    def label(self) -> str:
        """Authors and year, as in running text: `Bastings et al. (2018)`."""
        first, *others = self.authors
        authors = f"{first} et al." if len(others) > 1 else " & ".join(self.authors)
        return f"{authors} ({self.year})"

    def table(self, name: str) -> Table:
        """Return a table.

        Raises:
            UnknownName: it is not in the paper, or not entered here.
            WrongRequest: another command shows it.
        """
        other = self.elsewhere.get(name)
        require(other is None, f"{self.name}/{name} is no table of scores: `{other}` shows it")
        by_name = {each.name: each for each in self.tables}
        if name not in by_name:
            raise UnknownName("table", name, by_name, listing=f"daxy papers {self.name}")
        return by_name[name]


def _beginnings(name: str) -> set[str]:
    """Return what a name begins with, up to a space, a hyphen or a colon."""
    return {_plain(name[: mark.start()]) for mark in re.finditer(r"[ :-]", name)}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
