"""Train a network on a task; finished runs are reused, interrupted ones resume."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import tyro

from daxy.cli._config_file import Configured
from daxy.cli._data import TaskName, TaskVerb, among, data_field, options_of
from daxy.cli._flags import Trackers
from daxy.cli._parse import Reading
from daxy.cli._result import Result
from daxy.cli._table import say
from daxy.cli._trained import answer, rates_table, runs_of
from daxy.cli._verb import Switch, Verb
from daxy.core.display import counted
from daxy.core.errors import require
from daxy.core.settings import is_required

if TYPE_CHECKING:
    from daxy.runs.experiment import Experiment
    from daxy.tasks import DatasetOptions

LearnerName = tyro.conf.Positional[Annotated[str, tyro.conf.arg(metavar="LEARNER")]]
DEFAULT_LEARNER = "seq2seq"


@dataclass(frozen=True, kw_only=True)
class Train(TaskVerb, Configured):
    """Train a learner on a task, several seeds as one program, and score it on the test set.

    The name of a run folder has a digest of the complete configuration. The same command finds a
    finished run again, and resumes an interrupted one with identical results.

    Example:
        daxy train scan/simple --cell gru --seeds 3
        daxy train scan/addprim_jump nearest --substitute
        daxy train scan/addprim_jump predictions --file outputs.jsonl --name "my model"
    """

    leading = ("task", "learner")
    in_file = (leading,)
    flags: ClassVar[frozenset[str]] = frozenset()
    """Flags of the request, with any value."""

    task: TaskName
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
    log: Trackers = ()
    """Send the logs of the runs to a tracker too: `tensorboard`, `wandb` or `mlflow` (extras of
    these names); several with commas. Finished runs that it lacks are sent as well."""

    @classmethod
    def variants(cls, words: Sequence[str]) -> Iterator[type[Verb]]:
        """Yield the verb for each task and each learner among the words."""
        from daxy import learners, models, tasks

        def is_learner(word: str) -> bool:
            return word in models.ARCHITECTURES or word in learners.LEARNERS

        request = Reading(cls.for_networks(), words)
        for task in among(words, tasks.exists):
            for name in among(words, is_learner):
                yield cls.for_learner(request, task, name)
            yield cls.for_learner(request, task)
        yield cls.for_learner(request)

    @classmethod
    def for_learner(
        cls, request: Reading, task: str | None = None, learner: str | None = None
    ) -> type[Verb]:
        """Return the verb with the flags of a task and a learner."""
        from daxy import learners, models, tasks

        name, options = learner or DEFAULT_LEARNER, options_of(task)
        if learners.registry_of(name) is models.ARCHITECTURES:
            endless = task is not None and tasks.get(task).is_stream
            base, flags = (
                cls.for_networks(),
                _network_flags(request, name, options, endless=endless),
            )
        else:
            kind = learners.get(name)
            base, flags = cls, [_settings_field("method", kind), data_field(options)]
        names = tuple(filter(None, (task, learner)))
        shown = () if task is None else (task, name)
        facts = {"names": names, "help_names": shown, "flags": request.flags}
        return base.with_fields(*flags, __doc__=cls.__doc__, **facts)

    @classmethod
    def for_networks(cls) -> type[Train]:
        """Return the verb with the flags that all networks have."""
        return TrainNetwork

    def run(self) -> Result:
        """Return the scores of every seed, with published scores."""
        from daxy import tasks
        from daxy.runs.run import seed_range

        experiment = self.experiment()
        count = experiment.learner.count or self.seeds
        several = f"{self.learner} has {counted(count, 'run')}; leave out --seeds"
        require(self.seeds in (1, count), several)
        seeds = seed_range(count, self.first_seed)
        experiment.learner.check(tasks.get(self.task), experiment.data)
        for note in self.notes():
            say(f"note: {note}")
        return self.train(experiment, seeds)

    def notes(self) -> list[str]:
        """Return notes to show before training."""
        return []

    def train(self, experiment: Experiment, seeds: Sequence[int]) -> Result:
        """Train the runs, and return their scores."""
        from daxy.reproduction.trained import Trained
        from daxy.runs.progress import Display

        folders = experiment.run(seeds, monitor=Display(), restart=self.restart)
        return answer(Trained(experiment, tuple(folders)))

    def experiment(self) -> Experiment:
        """Return the experiment, as the Python API has it."""
        from daxy import trackers
        from daxy.runs.experiment import Experiment

        chosen: Any = self
        return Experiment(
            task=self.task,
            learner=chosen.method,
            data=self.data,
            folder=self.runs,
            trackers=trackers.listed(self.log),
        )


@dataclass(frozen=True, kw_only=True)
class TrainNetwork(Train):
    """Train a network on a task."""

    conditional = MappingProxyType({"--geca.": "--augment geca"})

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

        both = {"--learning-rates", "--learning-rate"} <= self.flags
        require(not both, "--learning-rates has all learning rates; leave out --learning-rate")
        published = getattr(models.get(self.learner), "PROTOCOL", self.protocol)
        if "--protocol" in self.flags or published == self.protocol:
            return []
        other = f"{self.learner} was published with another protocol, --protocol {published}"
        return [f"{other}; this is the default, {self.protocol}"]

    def train(self, experiment: Experiment, seeds: Sequence[int]) -> Result:
        """Train the runs with each learning rate, and return the scores of the selected one."""
        from rich.console import Group

        from daxy.reproduction.learning_rates import search_learning_rates
        from daxy.runs.progress import Display

        if not self.learning_rates:
            return super().train(experiment, seeds)
        options: Any = {"monitor": Display(), "restart": self.restart}
        grid = search_learning_rates(experiment, self.learning_rates, seeds, **options)
        chosen = answer(grid.tried[grid.chosen])
        runs = {rate: runs_of(trained) for rate, trained in grid.tried.items()}
        rates = [{"learning_rate": it, "runs": runs.get(it, [])} for it in self.learning_rates]
        selection = {"selected": grid.chosen, "selected_by": grid.by, "learning_rates": rates}
        ties = ", ".join(f"{rate:g}" for rate in grid.best[1:])
        selected = f"selected   {grid.chosen:g}, by {grid.by}{f'; as good: {ties}' if ties else ''}"
        return Result(
            data={**chosen.data, **selection},
            text=Group(rates_table(grid, rates), selected, "", chosen.text),
        )

    def experiment(self) -> Experiment:
        """Return the experiment, as the Python API has it."""
        from daxy import tasks, trackers
        from daxy.cli._training import configured
        from daxy.learners.neural import Neural
        from daxy.runs.experiment import Experiment
        from daxy.training.protocols import protocol, validation

        chosen: Any = self
        config = protocol(self.protocol, is_stream=tasks.get(self.task).is_stream)
        return Experiment(
            task=self.task,
            learner=Neural(
                model=self.learner,
                config=chosen.network,
                training=configured(config, chosen.training, self.flags),
                geca=chosen.geca if self.augment == "geca" else None,
            ),
            data=self.data.for_training(validation(self.protocol)),
            folder=self.runs,
            test_every=self.test_every,
            trackers=trackers.listed(self.log),
        )


def _settings_field(name: str, kind: type[Any]) -> tuple[str, Any, Any]:
    """Return the field of the verb for the settings of a learner or of a network."""
    has_defaults = not any(map(is_required, fields(kind)))
    content = field(default_factory=kind) if has_defaults else field()
    return name, tyro.conf.OmitArgPrefixes[kind], content


def _network_flags(
    request: Reading, learner: str, options: type[DatasetOptions], *, endless: bool
) -> list[Any]:
    """Return the fields of the verb for a network: its configuration, its protocol, its data."""
    from daxy import models
    from daxy.augmentation.geca import Geca
    from daxy.cli._training import training_field
    from daxy.training.protocols import DEFAULT, PROTOCOLS, protocol, validation

    paper = request.value("--protocol") or DEFAULT
    settings = protocol(paper, is_stream=endless)
    # A paper without a validation set has none where it is carved from train.
    carved = {"validation": validation(paper)} if options.has_validation_option else {}
    config = models.config(learner)
    flags: list[Any] = [
        ("protocol", Literal[*PROTOCOLS], field(default=DEFAULT)),
        _settings_field("network", config),
        training_field(settings),
        data_field(options, **carved),
    ]
    if request.value("--augment") == "geca":
        flags.append(("geca", Geca, field(default_factory=Geca)))
    return flags


VERB = Train
