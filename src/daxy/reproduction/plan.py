"""Plan the runs of a published table, train them, and add them to the ledger."""

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
    """Runs of one cell, by the state of each seed."""

    cell: TableCell
    recipe: RunSpec
    store: RunStore
    in_ledger: tuple[int, ...]
    finished: tuple[int, ...]
    """Seeds with a finished run folder that is not in the ledger yet."""
    missing: tuple[int, ...]
    """Seeds to train, from the beginning or from a checkpoint."""
    official: Path | None = None
    """Official files to train on."""

    @property
    def runs(self) -> list[Run]:
        """All runs of the cell."""
        return self.of(sorted((*self.in_ledger, *self.seeds)))

    @property
    def seeds(self) -> list[int]:
        """Seeds that are not in the ledger."""
        return sorted((*self.finished, *self.missing))

    def of(self, seeds: Sequence[int]) -> list[Run]:
        """Return the cell's runs with these seeds."""
        return [run(self.recipe, seed, self.official) for seed in seeds]


def learner_of(recipe: RunSpec) -> Learner:
    """Return the learner of a specification, with every setting resolved."""
    return learners.of_settings(settings_of(recipe))


def run(recipe: RunSpec, seed: int, official: Path | None = None) -> Run:
    """Return the run of a specification with this seed, on official files if given."""
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
    """Return one step per cell that has a specification.

    Args:
        paper: Paper of the cells.
        cells: Cells to reproduce.
        seeds: Number of seeds, from 0 on; None for as many as the published score has runs.
        ledger: Ledger with the runs that are filed already.
        store: Folder of run folders.
        restart: Ignore finished run folders; every run that is not in the ledger is missing.
        official: Official files to train on, instead of generated data.

    Raises:
        WrongRequest: a cell needs generated data and there are official files; or finished runs
            lack the evaluations that the store needs.
        WrongFile: the official files do not exist, or a file of the ledger is damaged.
        RunFailed: a finished run folder is damaged.
    """
    store.check()
    if official is not None:
        _check_official(official, [cell.recipe for cell in cells if cell.recipe is not None])
    filed = ledger.runs(paper)

    def step(cell: TableCell, recipe: RunSpec) -> PlanStep:
        all_seeds = range(seeds or cell.runs or 1)
        in_ledger = {entry.seed for entry in filed.of(cell)}
        left = {seed: run(recipe, seed, official) for seed in all_seeds if seed not in in_ledger}
        done = {seed for seed, it in left.items() if not restart and it.is_done(store.folder)}
        store.check_evaluated(
            [*left.values()], missing=[it for seed, it in left.items() if seed not in done]
        )
        return PlanStep(
            cell=cell,
            recipe=recipe,
            store=store,
            in_ledger=tuple(seed for seed in all_seeds if seed in in_ledger),
            finished=tuple(seed for seed in left if seed in done),
            missing=tuple(seed for seed in left if seed not in done),
            official=official,
        )

    return [step(cell, cell.recipe) for cell in cells if cell.recipe is not None]


def missing_programs(steps: Sequence[PlanStep]) -> list[Program]:
    """Return the programs that train the missing runs of steps; shared runs appear once."""
    result, names = list[Program](), set[str]()
    for step in steps:
        runs = [run for run in step.of(step.missing) if run.config.name not in names]
        names |= {run.config.name for run in runs}
        result += programs(runs, step.store.missing(runs), step.store)
    return result


def counts(steps: Sequence[PlanStep]) -> tuple[int, int, int]:
    """Return the number of runs in the ledger, finished, and missing; shared runs count once."""

    def count(seeds_of: Callable[[PlanStep], Sequence[int]]) -> int:
        return len({(step.recipe.identity, seed) for step in steps for seed in seeds_of(step)})

    return (
        count(lambda step: step.in_ledger),
        count(lambda step: step.finished),
        count(lambda step: step.missing),
    )


def _check_official(official: Path, recipes: Sequence[RunSpec]) -> None:
    """Check that the official files exist and that no specification needs generated data.

    This is an error even if all runs are in the ledger.
    """
    for recipe in recipes:
        problem = f"runs on {recipe.task} use generated data here; leave out --official"
        require(data_of(recipe).origin == "official", problem)
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
    """Train the runs of each step, add them to the ledger, and yield the step.

    If a run fails, the other runs of the step are filed, and the next step follows.

    Raises:
        Interrupted: by a signal; yielded steps are in the ledger, the others can be resumed.
        RunFailed: a run failed, a run folder is damaged, or the ledger cannot be written.
        WrongRequest: `restart` would delete the state of a run outside the steps.
    """
    errors = list[DaxyError]()
    for step in steps:
        step.store.track(step.runs)
    left = [step for step in steps if step.seeds]
    if left:
        ledger.check(table)
    if left and restart:
        # All at once, as an interrupted group may have runs of several cells.
        by_name = {run.config.name: run for step in left for run in step.of(step.seeds)}
        left[0].store.clear([*by_name.values()])
    for step in left:
        runs = step.of(step.seeds)
        step.store.tidy(runs)
        for program in programs(runs, step.store.missing(runs), step.store):
            try:
                step.store.complete(program.runs, monitor)
            except Interrupted:
                raise
            except DaxyError as error:
                errors.append(error)
        missing = {run.config.name for run in step.store.missing(runs)}
        done = [run for run in runs if run.config.name not in missing]
        folders = [(step.cell, run.within(step.store.folder)) for run in done]
        ledger.add(table, entries(folders, errors))
        if done:
            yield step
    failures.end(errors)
