"""Ledger of measured runs: one JSON file per published table.

`results/bastings2018/table4.json` has the runs that were trained for cells of that table. Several
tables of a paper can print the same score, such as Tables 1 and 4 of Bastings et al. A run counts
in every table of the paper that has a cell with its specification. If the specification of a cell
changes, the cell loses its runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from daxy.core import json_objects
from daxy.core.errors import UnknownName, WrongFile, in_one_line, quote
from daxy.core.files import read_bytes, write_text
from daxy.core.locks import exclusive_lock
from daxy.papers import Paper, Table, TableCell
from daxy.reproduction.entry import Entry, from_json, has_valid_checksum, to_json

FORMAT = 2
RESULTS = Path("results")
"""Folder of measured runs in the current directory; `daxy reproduce` writes there."""


def measured_folder() -> Path:
    """Return the folder of measured runs: `results` if it exists, else the packaged one.

    An installed daxy has its results in the package, a checkout in its root.
    """
    package = Path(__file__).parents[1]
    folders = (RESULTS, package / "results", package.parents[1] / "results")
    return next((folder for folder in folders if folder.exists()), RESULTS)


@dataclass(frozen=True)
class Runs:
    """Runs of a paper, by the identity of their specification."""

    by_spec: Mapping[str, Sequence[Entry]]

    def of(self, cell: TableCell) -> list[Entry]:
        """Return the runs behind a cell's measured score, by seed.

        Only runs with the same resolved settings are averaged. If defaults have changed, the
        settings of the newest run count. If a run was trained more than once, the first training
        with this score counts.
        """
        first: dict[str, Entry] = {}
        for entry in self._trainings(cell):
            first.setdefault(entry.digest, entry)
        return list(first.values())

    def again(self, cell: TableCell) -> list[Entry]:
        """Return later trainings of a cell's runs, by seed; they do not count.

        Their scores may differ, as bits depend on the device and on the group.
        """
        counted = self.of(cell)
        return [entry for entry in self._trainings(cell) if entry not in counted]

    def diverged(self, cell: TableCell) -> list[int]:
        """Return the seeds of diverged runs of a cell, with or without a score for it."""
        return sorted({entry.seed for entry in self._comparable(cell) if entry.diverged})

    def _trainings(self, cell: TableCell) -> list[Entry]:
        """Return the trainings of a cell's runs that have its score, by seed and date.

        Several tables may have the same training, with different scores.
        """
        scored = [
            entry for entry in self._comparable(cell) if cell.recipe and entry.has(cell.recipe)
        ]
        return list({entry.training: entry for entry in scored}.values())

    def _comparable(self, cell: TableCell) -> list[Entry]:
        """Return all entries of a cell with the settings of the newest one, by seed and date."""
        entries = self.by_spec.get(cell.recipe.identity, []) if cell.recipe else []
        newest = max(entries, key=lambda entry: entry.date, default=None)
        settings = newest.settings_digest if newest else ""
        comparable = [entry for entry in entries if entry.settings_digest == settings]
        return sorted(comparable, key=lambda entry: (entry.seed, entry.date))


@dataclass(frozen=True)
class Ledger:
    """Folder of results."""

    folder: Path = RESULTS

    def path(self, table: Table) -> Path:
        """Return the file of a table, which may not exist."""
        return self.folder / table.paper / f"{table.name}.json"

    def entries(self, table: Table) -> list[Entry]:
        """Return the runs of a table's file, in its order; empty without a file.

        Raises:
            WrongFile: the file is damaged, or has a run of a cell that the table lacks.
        """
        path = self.path(table)
        if self.folder.exists() and not self.folder.is_dir():
            raise WrongFile(self.folder, "is a file; expected a folder of results")
        if not path.exists():
            return []
        data = read_bytes(path)
        value = _content(path, data, table)
        entries = [_entry(path, number, run) for number, run in enumerate(value["runs"], 1)]
        for number, entry in enumerate(entries, 1):
            _check_cell(path, number, entry, table)
        for number, run in enumerate(value["runs"], 1):
            if not has_valid_checksum(run):
                problem = "the checksum is not of what the run says: something was changed"
                raise WrongFile(path, f"run {number}: {problem}")
        _check_unique(path, entries)
        if value["count"] != len(entries):
            problem = f"`count` is {quote(value['count'])}, and there are {len(entries)} runs"
            raise WrongFile(path, problem)
        _check_text(path, data.decode(), table, entries)
        return entries

    def runs(self, paper: Paper) -> Runs:
        """Return the runs of all tables of a paper.

        Raises:
            WrongFile: a file is damaged.
        """
        by_spec: dict[str, list[Entry]] = {}
        for entry in chain.from_iterable(map(self.entries, paper.tables)):
            by_spec.setdefault(entry.recipe.identity, []).append(entry)
        return Runs(by_spec)

    def check(self, table: Table) -> None:
        """Check that the file of a table can be written.

        Raises:
            RunFailed: the file cannot be written.
        """
        with exclusive_lock(self.path(table)):
            return

    def add(self, table: Table, entries: Iterable[Entry]) -> int:
        """Add runs to a table's file and return the number of new ones; existing runs stay.

        An existing run is replaced only if it lacks the score of the new entry. If it was trained
        again, both are kept. Several processes may add runs at a time.

        Raises:
            WrongFile: the file is damaged; it is not changed.
            RunFailed: the file cannot be written.
        """
        by_date = sorted(entries, key=lambda entry: entry.date)
        if not by_date:
            return 0
        with exclusive_lock(self.path(table)):
            filed = {entry.training: entry for entry in self.entries(table)}
            new = 0
            for entry in by_date:
                if not _is_filed(entry, filed.values()):
                    filed[entry.training] = entry
                    new += 1
            if new:
                in_order = sorted(filed.values(), key=lambda entry: _order(entry, table))
                write_text(self.path(table), text(table, in_order))
        return new


def text(table: Table, entries: Sequence[Entry]) -> str:
    """Return the text of a table's file with these runs."""
    content = {
        "paper": table.paper,
        "table": table.name,
        "format": FORMAT,
        "count": len(entries),
        "runs": [to_json(entry) for entry in entries],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _is_filed(entry: Entry, filed: Iterable[Entry]) -> bool:
    """Whether an entry of the same run has the score of this one."""
    return any(other.digest == entry.digest and other.has(entry.recipe) for other in filed)


def _order(entry: Entry, table: Table) -> tuple[int, int, int, str, str]:
    row, column = table.rows.index(entry.row), table.columns.index(entry.column)
    return row, column, entry.seed, entry.digest, entry.date


def _content(path: Path, data: bytes, table: Table) -> dict[str, Any]:
    """Return the content of a table's file, with its header checked."""
    try:
        value = json_objects.decode(data)
    except json_objects.NotJSON as error:
        raise WrongFile(path, str(error), line=error.line) from None
    header = {"paper": table.paper, "table": table.name, "format": FORMAT}
    if not isinstance(value, dict) or value.keys() != {*header, "count", "runs"}:
        fields = "`paper`, `table`, `format`, `count` and `runs`"
        raise WrongFile(path, f"expected an object with {fields}")
    for name, expected in header.items():
        if value[name] != expected:
            raise WrongFile(path, f"`{name}` is {quote(value[name])}; expected {expected!r}")
    if not isinstance(value["runs"], list):
        raise WrongFile(path, "`runs` is not a list")
    return value


def _entry(path: Path, number: int, value: Any) -> Entry:
    try:
        return from_json(value)
    except ValueError as error:
        raise WrongFile(path, f"run {number}: {in_one_line(str(error))}") from error


def _check_cell(path: Path, number: int, entry: Entry, table: Table) -> None:
    for kind, name, names in (
        ("row", entry.row, table.rows),
        ("column", entry.column, table.columns),
    ):
        if name not in names:
            unknown = UnknownName(kind, name, names, listing=f"daxy papers {table.path}")
            raise WrongFile(path, f"run {number}: {unknown}")


def _check_unique(path: Path, entries: Sequence[Entry]) -> None:
    """Check that no training is there twice."""
    numbers: dict[tuple[str, str], int] = {}
    for number, entry in enumerate(entries, 1):
        first = numbers.setdefault(entry.training, number)
        if first < number:
            raise WrongFile(path, f"run {number} is run {first} again, of {entry.run}")


def _check_text(path: Path, content: str, table: Table, entries: Sequence[Entry]) -> None:
    """Check that the file has daxy's formatting, byte by byte except for CR LF."""
    expected_lines = text(table, entries).split("\n")
    lines = content.replace("\r\n", "\n").split("\n")
    for number, (line, expected) in enumerate(zip_longest(lines, expected_lines), 1):
        if line != expected:
            found, wanted = ("the end" if it is None else quote(it) for it in (line, expected))
            problem = f"{found} is not as daxy writes it; expected {wanted}"
            raise WrongFile(path, problem, line=number)
