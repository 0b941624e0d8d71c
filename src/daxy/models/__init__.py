"""Architectures: one a file, and the folder is the registry. A model knows no task.

To add one, write a file with a frozen dataclass `Config` (each field a flag of `daxy train`) and an
Equinox module `Model(config, sizes, key=key)` that has `logits`, `start` and `step` as
`daxy.models._model.Model` describes them. The laws in tests/laws pick it up. `PROTOCOL`, which it
may have, names the training recipe that it is from: `daxy train` reminds of it.

`Config` may be in a file of the same name in `daxy.models.configs`, which imports no JAX: then
`daxy learners` and `daxy train --help` work without JAX, and start sooner.
"""

from __future__ import annotations

from typing import Any

from daxy.core import registry


def available() -> list[str]:
    """Return the names of all architectures."""
    return registry.entries(__name__)


def get(name: str) -> Any:
    """Return the module of an architecture, with its `Config` and `Model`.

    Raises:
        UnknownName: there is no such architecture.
        WrongFile: its file cannot be imported, or lacks one of the two.
    """
    return registry.load(__name__, name, "Config", "Model", kind="model")


def config(name: str) -> type[Any]:
    """Return the configuration class of an architecture; of one in `configs` without JAX.

    Raises:
        UnknownName: there is no such architecture.
        WrongFile: its file cannot be imported, or has no `Config`.
    """
    package = f"{__name__}.configs"
    if name not in registry.entries(package):
        return get(name).Config
    return registry.load(package, name, "Config", kind="model").Config
