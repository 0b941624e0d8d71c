"""The ledger: every run that counts towards a published table, one JSON file a table.

`results/bastings2018/table4.json` holds the runs that were made for cells of that table. Cells of
several tables of a paper can be the same experiment (Tables 1 and 4 of Bastings et al. print the
same figures): a run is filed under the table it was made for, and counts in every table of the
paper that has a cell with its recipe. A cell whose recipe has changed since has lost its runs.
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
from daxy.reproduction.entry import Entry, from_json, is_whole, to_json

FORMAT = 2
RESULTS = Path("results")
"""Folder of the measured runs in the current directory; `daxy reproduce` writes there."""


def measured_folder() -> Path:
    """Return the folder of the measured runs: `results` if it exists, else the packaged one.

    An installed daxy has its results in the package, a checkout has them in its root.
    """
    package = Path(__file__).parents[1]
    folders = (RESULTS, package / "results", package.parents[1] / "results")
    return next((folder for folder in folders if folder.exists()), RESULTS)


@dataclass(frozen=True)
class Runs:
    """The runs of a paper by what they are runs of."""

    by_recipe: Mapping[str, Sequence[Entry]]

    def of(self, cell: TableCell) -> list[Entry]:
        """Return the runs that make up a cell's measured figure, by seed.

        Only runs with the same resolved settings are averaged: where the defaults behind a recipe
        have changed since, the settings of the newest run count. Of a run that was trained more
        than once, the first training that has the figure counts, whatever the others came to.
        """
        first: dict[str, Entry] = {}
        for entry in self._trainings(cell):
            first.setdefault(entry.digest, entry)
        return list(first.values())

    def again(self, cell: TableCell) -> list[Entry]:
        """Return the later trainings of a cell's runs, by seed: they are shown, and do not count.

        The bits of a run depend on the device and on what is trained beside it, so that it may
        come to something else.
        """
        counted = self.of(cell)
        return [entry for entry in self._trainings(cell) if entry not in counted]

    def diverged(self, cell: TableCell) -> list[int]:
        """Return the seeds of a cell's runs that did, also of those that have no figure for it."""
        return sorted({entry.seed for entry in self._alike(cell) if entry.diverged})

    def _trainings(self, cell: TableCell) -> list[Entry]:
        """Return the trainings of a cell's runs that have its figure, by seed and date.

        One may be filed under several tables, and not with the same figures.
        """
        having = [entry for entry in self._alike(cell) if cell.recipe and entry.has(cell.recipe)]
        return list({entry.training: entry for entry in having}.values())

    def _alike(self, cell: TableCell) -> list[Entry]:
        """Return all that is filed of a cell's runs, of the newest settings, by seed and date."""
        found = self.by_recipe.get(cell.recipe.identity, []) if cell.recipe else []
        newest = max(found, key=lambda entry: entry.date, default=None)
        settings = newest.settings_digest if newest else ""
        alike = [each for each in found if each.settings_digest == settings]
        return sorted(alike, key=lambda entry: (entry.seed, entry.date))


@dataclass(frozen=True)
class Ledger:
    """A folder of results."""

    folder: Path = RESULTS

    def path(self, table: Table) -> Path:
        """Return the file of a table, there or not."""
        return self.folder / table.paper / f"{table.name}.json"

    def entries(self, table: Table) -> list[Entry]:
        """Return the runs filed under a table, in its order; none if it has no file yet.

        Raises:
            WrongFile: the file is damaged, or has a run of no cell of the table.
        """
        path = self.path(table)
        if self.folder.exists() and not self.folder.is_dir():
            raise WrongFile(self.folder, "is a file; expected a folder of results")
        if not path.exists():
            return []
        data = read_bytes(path)
        value = _content(path, data, table)
        found = [_entry(path, number, each) for number, each in enumerate(value["runs"], 1)]
        for number, entry in enumerate(found, 1):
            _check_place(path, number, entry, table)
        for number, each in enumerate(value["runs"], 1):
            if not is_whole(each):
                problem = "the checksum is not of what the run says: something was changed"
                raise WrongFile(path, f"run {number}: {problem}")
        _check_apart(path, found)
        if value["count"] != len(found):
            count = f"`count` is {quote(value['count'])}, and there are {len(found)} runs"
            raise WrongFile(path, count)
        _check_text(path, data.decode(), table, found)
        return found

    def runs(self, paper: Paper) -> Runs:
        """Return the runs of all tables of a paper.

        Raises:
            WrongFile: a file is damaged.
        """
        by_recipe: dict[str, list[Entry]] = {}
        for entry in chain.from_iterable(map(self.entries, paper.tables)):
            by_recipe.setdefault(entry.recipe.identity, []).append(entry)
        return Runs(by_recipe)

    def check(self, table: Table) -> None:
        """Refuse a place where nothing can be filed under a table, before much is done for it.

        Raises:
            RunFailed: the file cannot be written.
        """
        with exclusive_lock(self.path(table)):
            return

    def add(self, table: Table, entries: Iterable[Entry]) -> int:
        """File runs under a table and return how many are new; what is there stays as it is.

        A run that is there is filed again only where it lacks the figure that the new one is filed
        for. If it was trained again for that, both are kept. Several processes may file at a
        time: each adds to what the others have filed.

        Raises:
            WrongFile: the file is damaged; it is left alone.
            RunFailed: the file cannot be written.
        """
        given = sorted(entries, key=lambda entry: entry.date)
        if not given:
            return 0
        with exclusive_lock(self.path(table)):
            known = {entry.training: entry for entry in self.entries(table)}
            new = 0
            for entry in given:
                if not _filed(entry, known.values()):
                    known[entry.training] = entry
                    new += 1
            if new:
                every = sorted(known.values(), key=lambda it: _order(it, table))
                write_text(self.path(table), text(table, every))
        return new


def text(table: Table, entries: Sequence[Entry]) -> str:
    """Return the content of a table's file with these runs."""
    content = {
        "paper": table.paper,
        "table": table.name,
        "format": FORMAT,
        "count": len(entries),
        "runs": [to_json(entry) for entry in entries],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _filed(entry: Entry, known: Iterable[Entry]) -> bool:
    """Whether the run is known with the figure that it is to be filed for."""
    return any(each.digest == entry.digest and each.has(entry.recipe) for each in known)


def _order(entry: Entry, table: Table) -> tuple[int, int, int, str, str]:
    row, column = table.rows.index(entry.row), table.columns.index(entry.column)
    return row, column, entry.seed, entry.digest, entry.date


def _content(path: Path, data: bytes, table: Table) -> dict[str, Any]:
    """Return what a table's file holds, after checking what it says of itself."""
    try:
        value = json_objects.decode(data)
    except json_objects.NotJSON as error:
        raise WrongFile(path, str(error), line=error.line) from None
    head = {"paper": table.paper, "table": table.name, "format": FORMAT}
    if not isinstance(value, dict) or value.keys() != {*head, "count", "runs"}:
        fields = "`paper`, `table`, `format`, `count` and `runs`"
        raise WrongFile(path, f"expected an object with {fields}")
    for name, wanted in head.items():
        if value[name] != wanted:
            raise WrongFile(path, f"`{name}` is {quote(value[name])}; expected {wanted!r}")
    if not isinstance(value["runs"], list):
        raise WrongFile(path, "`runs` is not a list")
    return value


def _entry(path: Path, number: int, value: Any) -> Entry:
    try:
        return from_json(value)
    except ValueError as error:
        raise WrongFile(path, f"run {number}: {in_one_line(str(error))}") from error


def _check_place(path: Path, number: int, entry: Entry, table: Table) -> None:
    for kind, name, known in (
        ("row", entry.row, table.rows),
        ("column", entry.column, table.columns),
    ):
        if name not in known:
            unknown = UnknownName(kind, name, known, listing=f"daxy papers {table.path}")
            raise WrongFile(path, f"run {number}: {unknown}")


def _check_apart(path: Path, entries: Sequence[Entry]) -> None:
    """Refuse a training that is filed twice."""
    numbers: dict[tuple[str, str], int] = {}
    for number, entry in enumerate(entries, 1):
        first = numbers.setdefault(entry.training, number)
        if first < number:
            raise WrongFile(path, f"run {number} is run {first} again, of {entry.run}")


def _check_text(path: Path, given: str, table: Table, entries: Sequence[Entry]) -> None:
    """Refuse a file that is not written as daxy writes it, byte for byte but for CR LF."""
    wanted = text(table, entries).split("\n")
    lines = given.replace("\r\n", "\n").split("\n")
    if lines != wanted:
        pairs = enumerate(zip_longest(lines, wanted), 1)
        line, (one, other) = next(each for each in pairs if each[1][0] != each[1][1])
        said = "the end" if one is None else quote(one)
        expected = "the end" if other is None else quote(other)
        raise WrongFile(path, f"{said} is not as daxy writes it; expected {expected}", line=line)
