"""Architectures: one a file, and the folder is the registry. A model knows no task.

To add one, write a file with a frozen dataclass `Config` (each field a flag of `daxy train`) and an
Equinox module `Model(config, sizes, key=key)` that has `logits`, `start` and `step` as
`daxy.models.api.Model` describes them. The laws in tests/laws pick it up. `PROTOCOL`, which it
may have, names the training recipe that it is from: `daxy train` reminds of it.

`Config` may be in a file of the same name in `daxy.models.configs`, which imports no JAX: then
`daxy learners` and `daxy train --help` work without JAX, and start sooner.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from daxy.core.registry import Registry

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from daxy.models.api import Model

__all__ = ["ARCHITECTURES", "Architecture", "available", "config", "get"]


class Architecture(Protocol):
    """A module of this folder."""

    Config: type[DataclassInstance]
    Model: Callable[..., Model]
    """Called as `Model(config, sizes, key=key)`."""


ARCHITECTURES: Registry[Architecture] = Registry(
    __name__, ("Config", "Model"), "model", without=("api",)
)
_CONFIGS: Registry[type[DataclassInstance]] = Registry(
    f"{__name__}.configs", "Config", "model", is_open=False
)
available, get = ARCHITECTURES.available, ARCHITECTURES.get


def config(name: str) -> type[DataclassInstance]:
    """Return the configuration class of an architecture; of one in `configs` without JAX.

    Raises:
        UnknownName: there is no such architecture.
        WrongFile: its file cannot be imported, or has no `Config`.
    """
    return _CONFIGS.get(name) if name in _CONFIGS else get(name).Config
