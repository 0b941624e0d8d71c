"""Architectures: one a file, and the folder is the registry. A model knows no task.

To add one, write a file with a frozen dataclass `Config` (each field a flag of `daxy train`) and an
Equinox module `Model(config, sizes, key=key)` that has `logits`, `start` and `step` as
`daxy.models._model.Model` describes them. The laws in tests/laws pick it up. `PROTOCOL`, which it
may have, names the training recipe that it is from: `daxy train` reminds of it.
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
