"""Published tables: scores as printed, and how to reproduce them."""

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
"""Part of the data; `length_oracle` is the test set, decoded with the gold output length given."""
PERPLEXITY = "perplexity"
"""Name of the training perplexity; not a metric of a task."""


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """Run specification of a score: only names and overrides, so that it imports no model."""

    task: str
    """Name of the task; `{rep}` in it stands for the repetition of the split."""
    model: str
    config: Mapping[str, Value]
    """Model settings that differ from the defaults, or that distinguish rows."""
    protocol: str
    """Name of the training protocol."""
    metric: str
    """Name of the printed score; `perplexity` is the training perplexity."""
    data: Mapping[str, Value] = field(default_factory=dict[str, Value])
    """Data options that differ from the published data."""
    protocol_changes: Mapping[str, Value] = added_mapping()
    """Training settings that differ from the protocol."""
    geca: Mapping[str, Value] | None = added_field(None)
    """GECA settings that differ from the defaults; None for a learner without GECA."""
    repetitions: int = added_field(1)
    """Number of repetitions of the split: seed 0 has the first, seed 1 the second."""
    test: str = added_field("")
    """Name of one of several tests; empty for the whole test set."""
    part: Part = added_field("test")  # noqa: RUF009 - a text
    """Part of the data that is scored. The validation set may be scored with weights that another
    criterion selected."""
    after_steps: int = added_field(0)
    """Training steps before the validation score is taken; 0 scores the selected weights."""

    def task_of(self, seed: int) -> str:
        """Return the task name of the run with this seed."""
        return self.task.format(rep=seed % self.repetitions + 1)

    @property
    def tasks(self) -> list[str]:
        """Task names of all repetitions."""
        return [self.task_of(seed) for seed in range(self.repetitions)]

    @property
    def unit(self) -> float:
        """Factor from a score to the printed value: 100 for shares, 1 for perplexity."""
        return 1.0 if self.metric == PERPLEXITY else 100.0

    @property
    def identity(self) -> str:
        """Key that is equal for two specifications exactly if they have the same runs.

        One run has the scores of every metric and test, so these are not part of the key.
        """
        run = replace(self, metric="", test="", part="test", after_steps=0)
        return json.dumps(to_dict(run), sort_keys=True)


@dataclass(frozen=True, kw_only=True)
class TableCell(Brief):
    """One score of a table."""

    paper: str
    table: str
    row: str
    column: str
    value: float | None
    """Value as printed, accuracies in per cent; None if the paper prints nothing."""
    spread: float | None
    """Number after ±; None if the paper prints none."""
    runs: int | None
    """Number of runs behind the value; None if the paper does not say."""
    recipe: RunSpec | None
    """Specification of the runs; None for a score that the paper quotes from another paper."""
    digits: int = 1
    """Number of printed decimals."""
    is_chosen: bool = False
    """Whether the value is of one of several runs, the one with the lowest training perplexity."""

    @property
    def printed(self) -> str:
        """Value and spread as the paper prints them; empty if it prints nothing."""
        numbers = [number for number in (self.value, self.spread) if number is not None]
        return " ±".join(f"{number:.{self.digits}f}" for number in numbers)

    @property
    def _brief(self) -> str:
        return f"{self}: {self.printed or 'not printed'}"

    def __str__(self) -> str:
        return f"{self.paper}/{self.table}, {self.row}, {self.column}"


@dataclass(frozen=True, kw_only=True)
class Table(Brief):
    """Table of a paper, with rows and columns in the printed order; cells may be missing."""

    paper: str
    name: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[TableCell, ...]
    """Cells in row-major order."""
    note: str = ""
    """Note for readers, for example where the paper contradicts itself."""
    differences: str = ""
    """Why measured values differ from the published ones, in at most three lines."""
    is_printed: bool = True
    """Whether the values are printed for these runs; other tables repeat values to compare
    with."""

    @property
    def _brief(self) -> str:
        return f"{self.path}: {len(self.rows)} rows, {len(self.columns)} columns; {self.title}"

    @property
    def path(self) -> str:
        """Full name, such as `bastings2018/table4`."""
        return f"{self.paper}/{self.name}"

    def row(self, name: str) -> str:
        """Return the printed name of a row; case, spaces and punctuation are ignored.

        Raises:
            UnknownName: there is no such row.
        """
        return self._named("row", name, self.rows)

    def column(self, name: str) -> str:
        """Return the printed name of a column; case, spaces and punctuation are ignored.

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
        """Return the cells in these rows and columns, in the printed order; no names select all.

        A name that no row or column has selects all names that begin with it.

        Raises:
            UnknownName: there is no such row or column.
            WrongRequest: the paper prints nothing there.
        """
        row_names = {row for name in rows for row in self._matches("row", name, self.rows)}
        column_names = {
            column for name in columns for column in self._matches("column", name, self.columns)
        }
        return self._cells(row_names or set(self.rows), column_names or set(self.columns))

    def _cells(self, rows: set[str], columns: set[str]) -> list[TableCell]:
        cells = [cell for cell in self.cells if cell.row in rows and cell.column in columns]
        if not cells:
            names = f"{', '.join(sorted(rows))} and {', '.join(sorted(columns))}"
            raise WrongRequest(f"{self.path} prints nothing for {names}")
        return cells

    def _matches(self, kind: str, name: str, names: Sequence[str]) -> list[str]:
        """Return the exact match, or else the names that begin with the whole words of `name`."""
        plain = _plain(name)
        matches = [other for other in names if plain and plain in _prefixes(other)]
        is_exact = plain in map(_plain, names) or not matches
        return [self._named(kind, name, names)] if is_exact else matches

    def _named(self, kind: str, name: str, names: Sequence[str]) -> str:
        by_plain_name = {_plain(other): other for other in names}
        if _plain(name) not in by_plain_name:
            raise UnknownName(kind, name, names, listing=f"daxy papers {self.path}")
        return by_plain_name[_plain(name)]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Published result of an analysis of runs."""

    analysis: str
    """Name of the analysis in daxy."""
    recipe: RunSpec
    """Specification of the analyzed runs."""
    values: Mapping[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    """Values by group and name, as the analysis labels them."""
    spreads: Mapping[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    """Numbers after ±, where the paper prints them."""
    note: str = ""
    """Result without a number."""
    test: str = ""
    """Name of one of several tests; empty otherwise."""


@dataclass(frozen=True, kw_only=True)
class Paper:
    """Paper with its tables."""

    name: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    tables: tuple[Table, ...]
    findings: tuple[Finding, ...] = ()
    elsewhere: Mapping[str, str] = field(default_factory=dict[str, str])
    """Commands that show other tables and figures of the paper, by name."""
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
            UnknownName: there is no such table here.
            WrongRequest: another command shows it.
        """
        command = self.elsewhere.get(name)
        require(command is None, f"{self.name}/{name} is no table of scores: `{command}` shows it")
        by_name = {table.name: table for table in self.tables}
        if name not in by_name:
            raise UnknownName("table", name, by_name, listing=f"daxy papers {self.name}")
        return by_name[name]


def _prefixes(name: str) -> set[str]:
    """Return the prefixes of a name before each space, hyphen and colon."""
    return {_plain(name[: mark.start()]) for mark in re.finditer(r"[ :-]", name)}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
