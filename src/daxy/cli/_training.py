"""Flags of a training configuration: one for each setting of each part."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING, field, fields, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_type_hints

import tyro

from daxy.core.settings import default, field_docs
from daxy.training.config import TrainingConfig
from daxy.training.parts import PARTS, SELECTABLE

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

KINDS = {
    "optimizer": "The optimizer.",
    "schedule": "The learning-rate schedule.",
}


def training_field(config: TrainingConfig) -> tuple[str, Any, Any]:
    """Return the field of a verb that has every setting as a flag.

    A setting that the configuration has not shows the default of its part.
    """
    values, flags = config.settings(), list[Any]()
    for role in SELECTABLE:
        kinds = Literal[*PARTS[role]]
        help_ = tyro.conf.arg(help=KINDS[role])
        flags.append((role, Annotated[kinds, help_], field(default=values[role])))
    for kind in [*(each for kinds in PARTS.values() for each in kinds.values()), TrainingConfig]:
        hints, docs = get_type_hints(kind), _docs(kind)
        known = {name for name, *_ in flags}
        for each in fields(kind):
            if each.name in {*PARTS, *known}:
                continue
            usual = 0 if each.default is MISSING else default(each)
            hint = Annotated[hints[each.name], tyro.conf.arg(help=docs[each.name])]
            flags.append((each.name, hint, field(default=values.get(each.name, usual))))
    made = make_dataclass("Training", flags, frozen=True, kw_only=True)
    return "training", tyro.conf.OmitArgPrefixes[made], field(default_factory=made)


def configured(config: TrainingConfig, chosen: object, given: Collection[str]) -> TrainingConfig:
    """Return a configuration with the settings whose flags were given.

    Raises:
        WrongRequest: a value is wrong, or settings exclude each other.
    """
    names = {flag.lstrip("-").removeprefix("no-").replace("-", "_") for flag in given}
    values: Mapping[str, Any] = vars(chosen)
    return config.with_settings(**{name: values[name] for name in values if name in names})


def _docs(kind: type[DataclassInstance]) -> dict[str, str]:
    """Return the docstrings of the fields of a dataclass and of its bases."""
    bases = [each for each in reversed(kind.__mro__) if hasattr(each, "__dataclass_fields__")]
    return {
        name: text
        for base in bases
        for name, text in field_docs(cast("type[DataclassInstance]", base)).items()
    }
