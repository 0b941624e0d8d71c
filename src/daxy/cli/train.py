"""Train a network on a task; finished runs are reused, interrupted ones resume."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, make_dataclass
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import tyro

from daxy.cli._data import OfTask, TaskName, field_of, named, options_of
from daxy.cli._result import Result
from daxy.cli._table import say
from daxy.cli._verb import Switch, Verb
from daxy.core.display import counted
from daxy.core.errors import require

if TYPE_CHECKING:
    from rich.console import RenderableType

    from daxy.papers import Cell
    from daxy.reproduction.learning_rates import Grid
    from daxy.reproduction.trained import Trained
    from daxy.runs.experiment import Experiment
    from daxy.tasks import DatasetOptions

LearnerName = tyro.conf.Positional[Annotated[str, tyro.conf.arg(metavar="LEARNER")]]
DEFAULT_LEARNER = "seq2seq"
SWITCHES = ("--json", "--debug", "--restart")
"""Flags that take no value."""


@dataclass(frozen=True, kw_only=True)
class Train(OfTask):
    """Train a learner on a task, several seeds as one program, and score it on the test set.

    The name of a run folder has a digest of the complete configuration. The same command finds a
    finished run again, and resumes an interrupted one with identical results.

    Example:
        daxy train scan/simple --cell gru --seeds 3
        daxy train scan/addprim_jump nearest --substitute
        daxy train scan/addprim_jump predictions --file outputs.jsonl --name "my model"
    """

    given: ClassVar[frozenset[str]] = frozenset()
    """The flags that were given."""

    task: TaskName
    """The task; `daxy tasks` lists them."""
    learner: LearnerName = DEFAULT_LEARNER
    """The learner: an architecture, or another method. `daxy learners` lists them; its flags are
    below."""
    seeds: int = 1
    """Number of runs, each with its own seed."""
    first_seed: int = 0
    """Seed of the first run; the others follow."""
    runs: Annotated[Path, tyro.conf.arg(metavar="DIR")] = Path("runs")
    """Folder of the run folders."""
    restart: Switch = False
    """Delete these runs and train them from the beginning."""

    def run(self) -> Result:
        """Return the scores of every seed, with the published value where there is one."""
        from daxy import tasks
        from daxy.reproduction.trained import Trained
        from daxy.runs.progress import Display
        from daxy.runs.run import seed_range

        experiment = self.experiment()
        count = experiment.learner.count or self.seeds
        several = f"{self.learner} has {counted(count, 'run')}; leave out --seeds"
        require(self.seeds in (1, count), several)
        seeds = seed_range(count, self.first_seed)
        experiment.learner.check(tasks.get(self.task), experiment.data)
        for note in self.notes():
            say(f"note: {note}")
        return self.answer(experiment, seeds) or _answer(
            Trained(
                experiment, tuple(experiment.run(seeds, monitor=Display(), restart=self.restart))
            )
        )

    def notes(self) -> list[str]:
        """Return what a person should know before training."""
        return []

    def answer(self, experiment: Experiment, seeds: Sequence[int]) -> Result | None:
        """Return the answer to a request for more than one experiment; None for one."""
        del experiment, seeds
        return None

    def experiment(self) -> Experiment:
        """Return the experiment, as the Python API has it."""
        from daxy.runs.experiment import Experiment

        chosen: Any = self
        return Experiment(task=self.task, learner=chosen.method, data=self.data, folder=self.runs)


@dataclass(frozen=True, kw_only=True)
class TrainNetwork(Train):
    """Train a network on a task."""

    brought = MappingProxyType({"--geca.": "--augment geca"})

    learning_rates: tuple[float, ...] = ()
    """Train every seed with each of these learning rates, as one program, and select one as the
    protocol selects weights: by training perplexity, or else on the validation set."""
    protocol: str = "bastings2018"
    """Training protocol of a paper; the flags below change its settings one by one."""
    augment: Literal["none", "geca"] = "none"
    """Augment the training set. `geca` is good-enough compositional data augmentation (Andreas
    2020), with flags of its own below; `daxy augment` shows its examples."""
    test_every: int = 0
    """Score the test set too after so many epochs, for the log and `daxy analyse over_training`;
    nothing is selected by it. 0: never. With samples or steps, `eval-every` is an epoch."""

    def notes(self) -> list[str]:
        """Return a note if the network was published with another protocol than the default."""
        from daxy import models

        self._check_rates()
        own = getattr(models.get(self.learner), "PROTOCOL", self.protocol)
        if "--protocol" in self.given or own == self.protocol:
            return []
        other = f"{self.learner} was published with another protocol, --protocol {own}"
        return [f"{other}; this is the default, {self.protocol}"]

    def _check_rates(self) -> None:
        several = "--learning-rates" in self.given
        require(
            bool(self.learning_rates) or not several,
            "--learning-rates needs values, as in --learning-rates 5e-3 1e-3",
        )
        twice = several and "--learning-rate" in self.given
        require(not twice, "--learning-rates has all learning rates; leave out --learning-rate")

    def answer(self, experiment: Experiment, seeds: Sequence[int]) -> Result | None:
        """Return the scores of each learning rate, and those of the selected one."""
        from rich.console import Group

        from daxy.reproduction.learning_rates import train_grid
        from daxy.runs.progress import Display

        if not self.learning_rates:
            return None
        grid = train_grid(
            experiment, self.learning_rates, seeds, monitor=Display(), restart=self.restart
        )
        chosen = _answer(grid.tried[grid.chosen])
        runs = {rate: _runs(trained) for rate, trained in grid.tried.items()}
        rates = [
            {"learning_rate": rate, "runs": runs.get(rate, [])} for rate in self.learning_rates
        ]
        data = {
            **chosen.data,
            "selected": grid.chosen,
            "selected_by": grid.by,
            "learning_rates": rates,
        }
        others = ", ".join(f"{rate:g}" for rate in grid.best[1:])
        said = f"selected   {grid.chosen:g}, by {grid.by}{f'; as good: {others}' if others else ''}"
        return Result(data=data, text=Group(_rates(grid, rates), said, "", chosen.text))

    def experiment(self) -> Experiment:
        """Return the experiment, as the Python API has it."""
        from daxy import models, tasks
        from daxy.cli._training import configured
        from daxy.learners.neural import Neural
        from daxy.runs.experiment import Experiment
        from daxy.training.protocols import protocol, validation

        kind = models.config(self.learner)  # said before the flags of another one are used
        chosen: Any = self
        require(isinstance(chosen.network, kind), f"write {self.learner} right after the task")
        settings = protocol(self.protocol, is_stream=tasks.get(self.task).is_stream)
        return Experiment(
            task=self.task,
            learner=Neural(
                model=self.learner,
                config=chosen.network,
                training=configured(settings, chosen.training, self.given),
                geca=chosen.geca if self.augment == "geca" else None,
            ),
            data=self.data.for_training(validation(self.protocol)),
            folder=self.runs,
            test_every=self.test_every,
        )


def verb(arguments: Sequence[str]) -> type[Verb]:
    """Return the verb with the flags of the task and of the learner that are named."""
    from daxy import learners, models, tasks

    task = named(arguments)
    names = _free(arguments)[1:]
    learner = next((word for word in names if word in learners.available()), DEFAULT_LEARNER)
    options = options_of(task)
    if learner in models.ARCHITECTURES:
        endless = task is not None and tasks.get(task).is_stream
        base, flags = TrainNetwork, _network_flags(arguments, learner, options, endless=endless)
    else:
        kind = learners.get(learner)
        method = ("method", tyro.conf.OmitArgPrefixes[kind], field(default_factory=kind))
        base, flags = Train, [method, field_of(options)]
    made = make_dataclass("Train", flags, bases=(base,), frozen=True, kw_only=True)
    made.__doc__ = Train.__doc__
    words = (word.partition("=")[0] for word in arguments)
    made.given = frozenset(word for word in words if word.startswith("--"))
    made.after = "" if task is None else f"{task} {learner}"
    return made


def _network_flags(
    arguments: Sequence[str], learner: str, options: type[DatasetOptions], *, endless: bool
) -> list[Any]:
    """Return the fields of the verb for a network: its configuration, its protocol, its data."""
    from daxy import models
    from daxy.augmentation.geca import Geca
    from daxy.cli._training import training_field
    from daxy.training.protocols import DEFAULT, PROTOCOLS, protocol, validation

    paper = _value(arguments, "--protocol") or DEFAULT
    settings = protocol(paper, is_stream=endless)
    # A paper without a validation set has none where it is carved from train.
    carved = {"validation": validation(paper)} if options.has_validation_option else {}
    config = models.config(learner)
    flags: list[Any] = [
        ("protocol", Literal[*PROTOCOLS], field(default=DEFAULT)),
        ("network", tyro.conf.OmitArgPrefixes[config], field(default_factory=config)),
        training_field(settings),
        field_of(options, **carved),
    ]
    if _value(arguments, "--augment") == "geca":
        flags.append(("geca", Geca, field(default_factory=Geca)))
    return flags


def _free(arguments: Sequence[str]) -> list[str]:
    """Return the words that are no flags and, as far as can be told, no flag's values."""
    pairs = zip(["", *arguments], arguments, strict=False)
    return [
        word
        for before, word in pairs
        if not word.startswith("-")
        and (not before.startswith("--") or "=" in before or before in SWITCHES)
    ]


def _value(arguments: Sequence[str], flag: str) -> str | None:
    """Return the value of a flag; the last one if it is given several times."""
    found = None
    for word, after in zip_longest(arguments, arguments[1:]):
        if word == flag:
            found = after
        elif word.startswith(f"{flag}="):
            found = word.partition("=")[2]
    return found


def _answer(trained: Trained) -> Result:
    from daxy.cli._published import as_values

    experiment, runs = trained.experiment, _runs(trained)
    data = {
        "task": experiment.task,
        "data": trained.folders[0].config().data,
        "learner": experiment.learner.settings(),
        "measured": trained.summary.as_json,
        "published": as_values(trained.published),
        "runs": runs,
    }
    return Result(data=data, text=_table(trained, runs))


def _runs(trained: Trained) -> list[dict[str, Any]]:
    found = [(folder, folder.config(), folder.scores()) for folder in trained.folders]
    return [
        {"seed": config.seed, "digest": config.digest, "folder": str(folder.path), **scores}
        for folder, config, scores in found
    ]


def _rates(grid: Grid, each: Sequence[dict[str, Any]]) -> RenderableType:
    """Return a line of every learning rate: what it is judged by, and what it came to on test."""
    from rich.table import Table

    judge = "perplexity" if grid.by_perplexity else "validation"
    table = Table("learning rate", f"{judge} of each seed", "test", box=None)
    for rate in each:
        runs = {run["seed"]: run for run in rate["runs"]}
        judged = [
            _judged(judge, runs[seed][judge]) if seed in runs else "diverged" for seed in grid.seeds
        ]
        tests = (f"{run['test'][run['metric']]:.1%}" for run in runs.values())
        table.add_row(f"{rate['learning_rate']:g}", " ".join(judged), " ".join(tests))
    return table


def _judged(by: str, value: float) -> str:
    return f"{value:.4g}" if by == "perplexity" else f"{value:.1%}"


def _table(trained: Trained, runs: Sequence[dict[str, Any]]) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    from daxy.runs.config import load

    metric = runs[0]["metric"]
    # Each of several tests has all its scores in a table of its own.
    metrics = [metric] if runs[0].get("tests") else [metric, *sorted({*runs[0]["test"]} - {metric})]
    heads = (f"test {name}" for name in metrics)
    table = Table("seed", box=None)
    learner = trained.experiment.learner
    for head in (*heads, "validation", *learner.summary(runs[0])):
        table.add_column(head, justify="right")
    table.add_column("run folder", overflow="fold")
    for run in runs:
        validation = "-" if run["validation"] is None else f"{run['validation']:.1%}"
        scores = (f"{run['test'][name]:.1%}" for name in metrics)
        columns = learner.summary(run).values()
        table.add_row(str(run["seed"]), *scores, validation, *columns, run["folder"])
    facts = [f"{fact}: {value:.1%}" for fact, value in runs[0]["statistics"].items()]
    count = f"{counted(len(runs), 'seed')}, {runs[0]['test_examples']:,} test examples"
    found = trained.summary
    lines = [f"measured   {found.text()} ({count})"]
    if found.sem is not None:
        extremes = f"min {100 * found.min:.1f}, max {100 * found.max:.1f}"
        lines[0] += f"; SEM {100 * found.sem:.1f}, {extremes}"
    published = trained.published
    alike = [cell for cell in published if cell.recipe and cell.recipe.metric == metric]
    lines += [f"published  {cell.printed} ({cell})" for cell in _of_test(alike, "")]
    source = load(trained.experiment.task, trained.experiment.data).provenance.source
    return Group(table, *_by_test(published, runs), *lines, *facts, f"data: {source}")


def _by_test(published: Sequence[Cell], runs: Sequence[dict[str, Any]]) -> list[RenderableType]:
    """Return the scores of each of several tests, over all seeds; nothing where test is one."""
    from rich.table import Table

    from daxy.core.summary import Summary

    tests, metrics = runs[0].get("tests", {}), tuple(runs[0]["test"])
    table = Table("test", box=None)
    for metric in metrics:
        table.add_column(metric, justify="right")
    table.add_column("published")
    for test in tests:
        shown = list[str]()
        for metric in metrics:
            found = Summary(runs=tuple(run["tests"][test][metric] for run in runs))
            shown.append(found.text())
        cells = _of_test(published, test)
        table.add_row(test, *shown, ", ".join(f"{cell.printed} ({cell})" for cell in cells))
    return [table, ""] if tests else []


def _of_test(cells: Sequence[Cell], test: str) -> list[Cell]:
    """Return the published figures of one of several tests, or of the whole test set for none."""
    return [
        cell
        for cell in cells
        if (recipe := cell.recipe)
        and (recipe.test, recipe.part, recipe.after_steps) == (test, "test", 0)
    ]


VERB = verb
