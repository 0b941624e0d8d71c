"""Entries of the ledger from the folders of finished runs."""

from __future__ import annotations

from collections.abc import Iterable

from daxy import tasks
from daxy.core.errors import DaxyError, RunFailed
from daxy.papers import Cell
from daxy.reproduction.entry import Entry, entry
from daxy.runs.folder import RunFolder
from daxy.runs.saved import predict_of_length


def entries(folders: Iterable[tuple[Cell, RunFolder]], lacking: list[DaxyError]) -> list[Entry]:
    """Return the entries of finished runs of cells; why one has none is added to `lacking`."""
    made = list[Entry]()
    for cell, folder in folders:
        try:
            made.append(entry_of(cell, folder))
        except RunFailed as error:
            lacking.append(error)
    return made


def entry_of(cell: Cell, folder: RunFolder) -> Entry:
    """Return the entry of a finished run, decoded once more if its cell asks for a length oracle.

    Raises:
        RunFailed: a file of the run is damaged, or it has no such figure.
    """
    if cell.recipe is None or cell.recipe.part != "length_oracle":
        return entry(cell, folder)
    examples, outputs = predict_of_length(folder)
    return entry(cell, folder, tasks.get(folder.config().task).totals(examples, outputs))
