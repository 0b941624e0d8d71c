"""From a cell of a published table to the runs that reproduce it, and into the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from daxy import learners
from daxy.core.errors import DaxyError, WrongFile, require
from daxy.learners import Learner
from daxy.papers import Paper, RunSpec, Table, TableCell
from daxy.reproduction.filing import entries
from daxy.reproduction.ledger import Ledger
from daxy.reproduction.resolve import data_of, settings_of
from daxy.runs import failures
from daxy.runs.monitor import Monitor
from daxy.runs.programs import Program, programs
from daxy.runs.run import Run
from daxy.runs.store import RunStore
from daxy.training.interrupt import Interrupted


@dataclass(frozen=True, kw_only=True)
class PlanStep:
    """One cell of a plan, by the seeds that are asked for."""

    cell: TableCell
    recipe: RunSpec
    store: RunStore
    in_ledger: tuple[int, ...]
    finished: tuple[int, ...]
    """Seeds whose run folder is finished and not in the ledger yet."""
    missing: tuple[int, ...]
    """Seeds to train, from the beginning or from a checkpoint."""
    official: Path | None = None
    """Official files to train on."""

    @property
    def runs(self) -> list[Run]:
        """All runs that the cell is to have."""
        return self.of(sorted((*self.in_ledger, *self.seeds)))

    @property
    def seeds(self) -> list[int]:
        """The seeds whose runs are to be found or trained."""
        return sorted((*self.finished, *self.missing))

    def of(self, seeds: Sequence[int]) -> list[Run]:
        """Return the cell's runs with these seeds."""
        return [run(self.recipe, seed, self.official) for seed in seeds]


def learner_of(recipe: RunSpec) -> Learner:
    """Return the learner that a recipe names, every setting resolved."""
    return learners.of_settings(settings_of(recipe))


def run(recipe: RunSpec, seed: int, official: Path | None = None) -> Run:
    """Return the run of a recipe with this seed, on official files if there are some."""
    learner, data = learner_of(recipe), data_of(recipe, official)
    return Run(task=recipe.task_of(seed), learner=learner, data=data, seed=seed)


def plan(
    paper: Paper,
    cells: Sequence[TableCell],
    seeds: int | None,
    ledger: Ledger,
    store: RunStore,
    *,
    restart: bool = False,
    official: Path | None = None,
) -> list[PlanStep]:
    """Return what there is and what is missing of each cell that can be reproduced.

    A cell is to have the runs with the first so many seeds; with None, as many as its figure is of.
    With `restart`, run folders do not count: what is not in the ledger is missing. Runs are on the
    official files that are given, in place of generated data.

    Raises:
        WrongRequest: there are official files, and a figure is not of such; or finished runs lack
            the evaluations that the store asks for.
        WrongFile: there are no such official files, or a file of the ledger is damaged.
        RunFailed: a finished run folder is damaged.
    """
    store.check()
    if official is not None:
        _check_official(official, [cell.recipe for cell in cells if cell.recipe is not None])
    known = ledger.runs(paper)

    def step(cell: TableCell, recipe: RunSpec) -> PlanStep:
        wanted = range(seeds or cell.runs or 1)
        in_ledger = {entry.seed for entry in known.of(cell)}
        left = {seed: run(recipe, seed, official) for seed in wanted if seed not in in_ledger}
        done = {seed for seed, own in left.items() if not restart and own.is_done(store.folder)}
        store.check_evaluated(
            [*left.values()], missing=[own for seed, own in left.items() if seed not in done]
        )
        return PlanStep(
            cell=cell,
            recipe=recipe,
            store=store,
            in_ledger=tuple(seed for seed in wanted if seed in in_ledger),
            finished=tuple(seed for seed in left if seed in done),
            missing=tuple(seed for seed in left if seed not in done),
            official=official,
        )

    return [step(cell, cell.recipe) for cell in cells if cell.recipe is not None]


def missing_programs(steps: Sequence[PlanStep]) -> list[Program]:
    """Return the programs that train the missing runs of steps; runs that cells share once."""
    found, known = list[Program](), set[str]()
    for step in steps:
        runs = [run for run in step.of(step.missing) if run.config.name not in known]
        known |= {run.config.name for run in runs}
        found += programs(runs, step.store.missing(runs), step.store)
    return found


def counts(steps: Sequence[PlanStep]) -> tuple[int, int, int]:
    """Return how many runs are in the ledger, finished, and missing; one that cells share once."""

    def runs(seeds_of: Callable[[PlanStep], Sequence[int]]) -> int:
        return len({(step.recipe.identity, seed) for step in steps for seed in seeds_of(step)})

    return (
        runs(lambda step: step.in_ledger),
        runs(lambda step: step.finished),
        runs(lambda step: step.missing),
    )


def _check_official(official: Path, recipes: Sequence[RunSpec]) -> None:
    """Refuse official files where runs on generated data make up a figure: they do not mix.

    That they are there is asked even if all runs are in the ledger and none of them is read.
    """
    for recipe in recipes:
        own = f"runs on {recipe.task} use generated data here; leave out --official"
        require(data_of(recipe).origin == "official", own)
    if not official.exists():
        raise WrongFile(official, "no such file or folder")


def execute(
    steps: Sequence[PlanStep],
    table: Table,
    ledger: Ledger,
    monitor: Monitor,
    *,
    restart: bool = False,
) -> Iterator[PlanStep]:
    """Run each step and file its runs before the next begins; yield it then.

    Where training fails, the other runs of the step are filed all the same, and the next begins.

    Raises:
        Interrupted: by a signal; what was yielded is in the ledger, the rest can be resumed.
        RunFailed: a run failed, a folder of one is damaged, or the ledger cannot be written.
        WrongRequest: `restart` would lose the state of a run that is not asked for.
    """
    failed = list[DaxyError]()
    left = [step for step in steps if step.seeds]
    if left:
        ledger.check(table)
    if left and restart:
        # All at once: what was interrupted together may be runs of several cells.
        every = {run.config.name: run for step in left for run in step.of(step.seeds)}
        left[0].store.clear([*every.values()])
    for step in left:
        runs = step.of(step.seeds)
        step.store.tidy(runs)
        for program in programs(runs, step.store.missing(runs), step.store):
            try:
                step.store.complete(program.runs, monitor)
            except Interrupted:
                raise
            except DaxyError as error:
                failed.append(error)
        missing = {run.config.name for run in step.store.missing(runs)}
        done = [run for run in runs if run.config.name not in missing]
        folders = [(step.cell, run.within(step.store.folder)) for run in done]
        ledger.add(table, entries(folders, failed))
        if done:
            yield step
    failures.end(failed)
