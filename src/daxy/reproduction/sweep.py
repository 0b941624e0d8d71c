"""A table's cells as a grid of runs: all that can share a program does, and what is done is filed.

Where `reproduction` takes one cell after another, a sweep takes one program after another, whose
runs may be of many cells.
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
    """What a table is to have and does not have yet."""

    table: Table
    steps: Sequence[PlanStep]
    store: RunStore
    most: int | None = None
    """Networks in a program at most; None for what memory allows."""

    @property
    def missing(self) -> list[Run]:
        """The runs that are to be trained, each once however many cells it counts for."""
        return _each_once(run for step in self.steps for run in step.of(step.missing))

    @cached_property
    def programs(self) -> list[Program]:
        """What is left to run when it is asked for first."""
        if not (missing := self.missing):
            return []  # and nothing has to be known of their data
        every = _each_once(run for step in self.steps for run in step.runs)
        return programs(every, missing, self.store, self.most)

    def file_results(self, finished: Iterable[Program], ledger: Ledger) -> Iterator[Program]:
        """File what is finished of each program as it ends, and yield it then.

        Raises:
            Interrupted: by a signal; what is finished is in the ledger, the rest can be resumed.
            RunFailed: a program failed, or a run lacks its figure, and what is finished is in the
                ledger; or a run folder is damaged, or the ledger cannot be written.
            WrongFile: the ledger is damaged.
        """
        ledger.check(self.table)
        lacking = list[DaxyError]()
        left = dict(self._cells)

        def file(runs: Iterable[Run]) -> None:
            # A group that was interrupted may have runs that nobody has asked for this time.
            asked = (run.within(self.store.folder) for run in runs if run.config.name in left)
            ended = ((left.pop(each.path.name), each) for each in asked if each.has_ended)
            ledger.add(self.table, entries(ended, lacking))

        done = [run for step in self.steps for run in step.of(step.finished)]
        self.store.tidy(done)
        file(done)
        try:
            for program in finished:
                file(program.runs)
                yield program
        except RunFailed as error:
            file(self.missing)
            if isinstance(error, Interrupted) or not lacking:
                raise
            more = f"; {len(lacking) - 1} more lack theirs" if len(lacking) > 1 else ""
            raise RunFailed(f"{error}; {lacking[0]}{more}") from error
        failures.end(lacking)

    @cached_property
    def _cells(self) -> dict[str, TableCell]:
        return {run.config.name: step.cell for step in self.steps for run in step.runs}


def _each_once(runs: Iterable[Run]) -> list[Run]:
    return list({run.config.name: run for run in runs}.values())


def select(cells: Sequence[TableCell], wanted: Mapping[str, Collection[Value]]) -> list[TableCell]:
    """Return the cells whose learner has one of the values wanted of each setting.

    Raises:
        WrongRequest: no learner of these cells has such a setting, or none has such a value.
    """
    left = [(cell, _settings(cell.recipe)) for cell in cells if cell.recipe is not None]
    for name, values in wanted.items():
        known = {settings[name] for _, settings in left if name in settings}
        require(bool(known), f"none of these networks has a setting {name}")
        missing = [value for value in values if value not in known]
        there = ", ".join(map(str, sorted(known, key=_place)))
        require(not missing, f"{name}: {missing and missing[0]} is not among {there}")
        left = [(cell, settings) for cell, settings in left if settings.get(name) in values]
    return [cell for cell, _ in left]


def _place(value: Value) -> tuple[float, str]:
    """Return where a value stands among others of its setting: numbers by their size."""
    return float(value) if isinstance(value, int | float) else 0.0, str(value)


def _settings(recipe: RunSpec) -> dict[str, Value]:
    """Return every setting of a recipe's architecture and protocol by name."""
    return learner_of(recipe).flags()
