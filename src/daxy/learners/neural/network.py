"""The settings of a network: architecture, configuration, training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import jax

from daxy import models
from daxy.augmentation import Geca
from daxy.batching.table import Vocabularies
from daxy.core.errors import UnknownName, require
from daxy.core.settings import from_dict, to_dict
from daxy.core.split import Split
from daxy.learners._learner import Job, Learner, Record
from daxy.models.api import Sizes, sees_worlds
from daxy.tasks import DatasetOptions, Task
from daxy.training.backend import PRNG, pinned
from daxy.training.config import SETTINGS, TrainingConfig
from daxy.worlds.grid import CHANNELS


@dataclass(frozen=True, kw_only=True)
class Network(Learner):
    """An architecture, its configuration and how it is trained."""

    kind: ClassVar[str] = "neural"
    starts_by: ClassVar[str] = "compiling"
    model: str
    config: Any
    training: TrainingConfig
    geca: Geca | None = None
    """Augmentation of the training set; None without one."""

    def __post_init__(self) -> None:
        runs_free = hasattr(models.get(self.model).Model, "logits_free_running")
        can_train = runs_free or self.training.loss.teacher_forcing == 1
        require(can_train, f"{self.model} cannot be fed its own outputs; teacher-forcing must be 1")
        is_fixed = self.geca is None or not self.training.online
        require(is_fixed, "GECA needs a training set; expected --no-online")

    @property
    def label(self) -> str:
        """The architecture's name."""
        return self.model

    @property
    def description(self) -> str:
        """The architecture and its configuration in a line."""
        values = ", ".join(f"{name} {value}" for name, value in vars(self.config).items())
        return f"{self.model}: {values}{', with GECA' if self.geca else ''}"

    def flags(self) -> dict[str, Any]:
        """Return every setting of the training and of the architecture."""
        return self.training.settings() | vars(self.config)

    def summary(self, scores: Record) -> dict[str, str]:
        """Return the perplexity, if weights are selected by it, and the selected epoch."""
        selection, columns = self.training.selection, dict[str, str]()
        if selection.select == "perplexity":
            columns["perplexity"] = f"{scores['perplexity']:.4g}"
        stopped = selection.early_stopping and scores["steps"] < self.training.total_steps
        end = ", stopped early" if stopped else ""
        end = ", then diverged" if "diverged" in scores else end
        columns["best epoch"] = f"{scores['best_epoch']} of {scores['epochs']}{end}"
        return columns

    def settings(self) -> dict[str, Any]:
        """Return all settings that determine the result, as JSON values."""
        return {
            "model": self.model,
            "config": to_dict(self.config),
            "training": self.training.to_dict(),
            **({} if self.geca is None else {"geca": to_dict(self.geca)}),
        }

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Return the learner with these settings; missing ones have their defaults.

        Raises:
            UnknownName: the architecture or a setting is unknown.
            WrongRequest: a setting has a wrong value.
        """
        training = TrainingConfig.from_dict(settings.get("training", {}))
        return cls.named(settings["model"], settings["config"], training, settings.get("geca"))

    @classmethod
    def named(
        cls,
        model: str,
        config: Mapping[str, Any],
        training: TrainingConfig,
        geca: Mapping[str, Any] | None = None,
    ) -> Self:
        """Return the learner with these settings; missing ones have their defaults.

        Raises:
            UnknownName: the architecture or a setting is unknown.
            WrongRequest: a setting has a wrong value.
        """
        return cls(
            model=model,
            config=from_dict(models.get(model).Config, config, of=f"model {model}"),
            training=training,
            geca=None if geca is None else from_dict(Geca, geca, of="geca"),
        )

    def with_settings(self, values: Mapping[str, Any]) -> Self:
        """Return the learner with other settings of the architecture or of the training.

        Raises:
            UnknownName: there is no such setting.
            WrongRequest: a setting has a wrong value.
        """
        known, own = vars(self.config), {*vars(self.config), *SETTINGS}
        for name in values:
            if name not in own:
                raise UnknownName(f"setting of {self.model}", name, own)
        config = {name: value for name, value in values.items() if name in known}
        training = {name: value for name, value in values.items() if name not in known}
        return replace(
            self,
            config=from_dict(type(self.config), {**known, **config}, of=f"model {self.model}"),
            training=self.training.with_settings(**training),
        )

    def check(self, task: Task[Any], data: DatasetOptions) -> None:
        """Refuse a task or data that the network cannot use.

        Raises:
            WrongRequest: learner and task do not go together.
        """
        blind = f"{self.model} has no input for worlds, which {task.name} needs"
        require(self.sees_worlds or not task.grounded, f"{blind}; see `daxy learners`")
        needless = f"{self.model} needs worlds, and {task.name} has none"
        require(task.grounded or not self.sees_worlds, needless)
        ends = f"{task.name} has a fixed number of examples; expected --no-online"
        online = self.training.online
        require(task.is_stream or not online, ends)
        shard = getattr(data, "shard", "1/1")
        idle = f"--shard {shard} is a part of train, and online training does not use train"
        require(shard == "1/1" or not online, f"{idle}; leave it out, or say --no-online")

    @property
    def max_decode_length(self) -> int:
        """Maximum tokens of an output."""
        return self.training.max_decode_length

    @property
    def max_epochs(self) -> int:
        """Maximum number of epochs."""
        return self.training.max_epochs

    @property
    def sees_worlds(self) -> bool:
        """Whether its network has worlds as an input."""
        return sees_worlds(models.get(self.model).Model)

    @property
    def shape(self) -> Network:
        """The learner without the settings that may differ within a group."""
        return replace(self, training=self.training.with_settings(dropout=0.0, learning_rate=1.0))

    def samples(self, split: Split) -> int:
        """Return the maximum number of examples to train on, counting repetitions."""
        config = self.training
        return config.total_steps * config.batch_size or config.max_epochs * len(split.train)

    def parameters(self, vocabularies: Vocabularies) -> int:
        """Return the number of parameters of a network with these vocabularies."""
        return sum(leaf.size for leaf in jax.tree.leaves(self.abstract_model(vocabularies)))

    @pinned()
    def abstract_model(self, vocabularies: Vocabularies) -> Any:
        """Return a model with shapes in place of weights."""
        channels = len(CHANNELS) if self.sees_worlds else 0
        sizes = Sizes(*map(len, vocabularies), channels=channels)
        build = partial(models.get(self.model).Model, self.config, sizes)
        return jax.eval_shape(lambda: build(key=jax.random.key(0, impl=PRNG)))


def network_of(job: Job) -> Network:
    """Return the learner of a job that trains a network."""
    assert isinstance(job.learner, Network)
    return job.learner
