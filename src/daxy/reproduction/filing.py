"""Make ledger entries from the folders of finished runs."""

from __future__ import annotations

from collections.abc import Iterable

from daxy import tasks
from daxy.core.errors import DaxyError, RunFailed
from daxy.papers import TableCell
from daxy.reproduction.entry import Entry, entry
from daxy.runs.folder import RunFolder
from daxy.runs.saved import predict_of_length


def entries(folders: Iterable[tuple[TableCell, RunFolder]], errors: list[DaxyError]) -> list[Entry]:
    """Return the entries of finished runs of cells; append the error of a run without one."""
    results = list[Entry]()
    for cell, folder in folders:
        try:
            results.append(entry_of(cell, folder))
        except RunFailed as error:
            errors.append(error)
    return results


def entry_of(cell: TableCell, folder: RunFolder) -> Entry:
    """Return the entry of a finished run; a length-oracle cell decodes its test set again.

    Raises:
        RunFailed: a file of the run is damaged, or the run has no such score.
    """
    if cell.recipe is None or cell.recipe.part != "length_oracle":
        return entry(cell, folder)
    examples, outputs = predict_of_length(folder)
    return entry(cell, folder, tasks.get(folder.config().task).totals(examples, outputs))
