"""Schemas of the JSON files of a run folder, which may come from another machine.

Unknown fields are ignored; later versions of daxy may write some.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from daxy.core import json_objects
from daxy.core.errors import WrongFile, quote
from daxy.core.schema import check
from daxy.core.split import Option
from daxy.metrics import is_share

Count = Annotated[int, msgspec.Meta(ge=0)]


class Learner(msgspec.Struct):
    """Learner settings."""

    config: dict[str, Any]
    model: str = ""
    """Architecture of a network."""
    learner: str = ""
    """Name of another learner."""
    training: dict[str, Any] = {}
    geca: dict[str, Any] | None = None


class Config(msgspec.Struct):
    """`config.json`."""

    task: str
    data: dict[str, Option]
    learner: Learner
    seed: Count
    format: int


class Environment(msgspec.Struct):
    """`environment.json`."""

    group: list[str] = []
    daxy: str = ""
    jax: str = ""
    device_kind: str = ""
    sacrebleu: str = ""
    started: str = ""
    cores: int | None = None
    checksum: str = ""
    """Checksum of the data."""
    files: dict[str, Any] = {}
    """Files of the data; see `DatasetOptions.located`."""
    settings: dict[str, str] = {}
    resumed: list[dict[str, Any]] = []


class Scores(msgspec.Struct):
    """`scores.json`."""

    metric: str
    test: dict[str, float]
    test_examples: Count
    validation: float | None
    statistics: dict[str, Any]
    best_epoch: Count = 0
    epochs: Count = 0
    steps: Count = 0
    tests: dict[str, dict[str, float]] = {}
    validation_scores: dict[str, float] = {}
    perplexity: float | None = None
    sacrebleu: str = ""
    diverged: bool = False


class Done(msgspec.Struct):
    """`done`: the digests of the other files, by their names."""


class Record(msgspec.Struct):
    """A line of `log.jsonl`."""

    epoch: Count
    steps: Count
    loss: float
    validation: float | None
    learning_rate: float = 0.0
    perplexity: float | None = None
    test: float | None = None
    tests: dict[str, float] = {}


def read(path: Path, kind: type[msgspec.Struct], *, constants: bool = False) -> dict[str, Any]:
    """Return the JSON object of a file, checked against a schema.

    Raises:
        ValueError: the file cannot be read, is not JSON, or a field is missing or has a wrong type.
    """
    try:
        value = json_objects.read(path, constants=constants)
    except WrongFile as error:
        line = "" if error.line is None else f"line {error.line}: "
        problem = str(error).removeprefix(f"{path}: ").removeprefix(f"{path}:{error.line}: ")
        raise ValueError(f"{path.name} cannot be read ({line}{problem})") from None
    check(value, kind, f"{path.name} is not a run's: ")
    return value


def check_shares(name: str, *scores: Mapping[str, float | None]) -> None:
    """Check that the scores of share metrics are between 0 and 1; None and NaN are allowed.

    Raises:
        ValueError: a score is not.
    """
    for metric, score in (item for mapping in scores for item in mapping.items()):
        if score is not None and (score < 0 or score > 1) and is_share(metric):
            problem = f"{quote(metric)} is {score:g}; expected a number between 0 and 1"
            raise ValueError(f"{name}: {problem}")
