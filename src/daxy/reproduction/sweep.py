"""Sweeps: train the cells of a table in as few programs as possible.

`daxy.reproduction.plan.execute` trains cell by cell. A sweep trains program by program; the runs of
a program may belong to several cells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from daxy.core.errors import DaxyError, RunFailed, require
from daxy.papers import RunSpec, Table, TableCell
from daxy.papers._paper import Value
from daxy.reproduction.filing import entries
from daxy.reproduction.ledger import Ledger
from daxy.reproduction.plan import PlanStep, learner_of
from daxy.runs import failures
from daxy.runs.programs import Program, programs
from daxy.runs.run import Run
from daxy.runs.store import RunStore
from daxy.training.interrupt import Interrupted


@dataclass(frozen=True, eq=False)
class Sweep:
    """Runs of a table, and the programs that train the missing ones."""

    table: Table
    steps: Sequence[PlanStep]
    store: RunStore
    most: int | None = None
    """Maximum number of networks in a program; None for as many as memory allows."""

    @property
    def missing(self) -> list[Run]:
        """Runs to train; runs that cells share appear once."""
        return _unique(run for step in self.steps for run in step.of(step.missing))

    @cached_property
    def programs(self) -> list[Program]:
        """Programs of the runs that are missing at the first access."""
        if not (missing := self.missing):
            return []  # Finished runs need no data.
        runs = _unique(run for step in self.steps for run in step.runs)
        return programs(runs, missing, self.store, self.most)

    def file_results(self, finished: Iterable[Program], ledger: Ledger) -> Iterator[Program]:
        """Add the finished runs of each ended program to the ledger, and yield the program.

        Raises:
            Interrupted: by a signal; finished runs are in the ledger, the others can be resumed.
            RunFailed: a program failed or a run has no score, and finished runs are in the ledger;
                or a run folder is damaged, or the ledger cannot be written.
            WrongFile: the ledger is damaged.
        """
        ledger.check(self.table)
        errors = list[DaxyError]()
        left = dict(self._cells)

        def file(runs: Iterable[Run]) -> None:
            # A resumed group may have runs outside this sweep.
            folders = (run.within(self.store.folder) for run in runs if run.config.name in left)
            ended = ((left.pop(it.path.name), it) for it in folders if it.has_ended)
            ledger.add(self.table, entries(ended, errors))

        done = [run for step in self.steps for run in step.of(step.finished)]
        self.store.tidy(done)
        self.store.track([run for step in self.steps for run in step.runs])
        file(done)
        try:
            for program in finished:
                file(program.runs)
                yield program
        except RunFailed as error:
            file(self.missing)
            if isinstance(error, Interrupted) or not errors:
                raise
            more = f"; {len(errors) - 1} more lack theirs" if len(errors) > 1 else ""
            raise RunFailed(f"{error}; {errors[0]}{more}") from error
        failures.end(errors)

    @cached_property
    def _cells(self) -> dict[str, TableCell]:
        return {run.config.name: step.cell for step in self.steps for run in step.runs}


def _unique(runs: Iterable[Run]) -> list[Run]:
    return list({run.config.name: run for run in runs}.values())


def select(cells: Sequence[TableCell], wanted: Mapping[str, Collection[Value]]) -> list[TableCell]:
    """Return the cells whose learner has one of these values of each setting.

    Raises:
        WrongRequest: no learner of the cells has such a setting or value.
    """
    left = [(cell, _settings(cell.recipe)) for cell in cells if cell.recipe is not None]
    for name, values in wanted.items():
        existing = {settings[name] for _, settings in left if name in settings}
        require(bool(existing), f"none of these networks has a setting {name}")
        missing = [value for value in values if value not in existing]
        listing = ", ".join(map(str, sorted(existing, key=_sort_key)))
        require(not missing, f"{name}: {missing and missing[0]} is not among {listing}")
        left = [(cell, settings) for cell, settings in left if settings.get(name) in values]
    return [cell for cell, _ in left]


def _sort_key(value: Value) -> tuple[float, str]:
    """Return the sort key of a setting's value: numbers by size."""
    return float(value) if isinstance(value, int | float) else 0.0, str(value)


def _settings(recipe: RunSpec) -> dict[str, Value]:
    """Return every setting of a specification's model and protocol by name."""
    return learner_of(recipe).flags()
