"""Resolve run specifications to settings and data, without a machine-learning framework."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from daxy import models, tasks
from daxy.augmentation.geca import Geca
from daxy.core.settings import from_dict, to_dict
from daxy.papers._paper import RunSpec
from daxy.tasks import DatasetOptions
from daxy.training.protocols import protocol, validation


def settings_of(recipe: RunSpec) -> dict[str, Any]:
    """Return every setting of a specification's learner, as in run folders.

    Raises:
        UnknownName: there is no such model, protocol or setting.
        WrongRequest: a setting has a wrong value.
    """
    config = from_dict(models.config(recipe.model), recipe.config, of=f"model {recipe.model}")
    published = protocol(recipe.protocol, is_stream=tasks.get(recipe.tasks[0]).is_stream)
    training = published.with_settings(**dict[str, Any](recipe.protocol_changes))
    geca = None if recipe.geca is None else from_dict(Geca, recipe.geca, of="geca")
    return {
        "model": recipe.model,
        "config": to_dict(config),
        "training": training.to_dict(),
        **({} if geca is None else {"geca": to_dict(geca)}),
    }


def data_of(recipe: RunSpec, official: Path | None = None) -> DatasetOptions:
    """Return the data options of a specification, of official files if given."""
    data = tasks.data(recipe.tasks[0], official=official, **dict[str, Any](recipe.data))
    return data.for_training(validation(recipe.protocol))
