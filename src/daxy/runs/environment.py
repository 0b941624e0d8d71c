"""Environment of a run: versions, device, date and group."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from daxy.version import __version__


def describe(group: Sequence[str], learner: Mapping[str, Any]) -> dict[str, Any]:
    """Return versions, device, date and group of a run.

    Args:
        group: Names of the runs that train together.
        learner: Environment of the learner; see `Learner.environment`.
    """
    return {
        "daxy": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "sacrebleu": version("sacrebleu"),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        **learner,
        "command": _command(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "group": list(group),
    }


def _command() -> str:
    """Return the command line of `daxy`; empty for another program."""
    program = Path(sys.argv[0])
    is_own = program.stem == "daxy" or program.parts[-2:] == ("daxy", "__main__.py")
    return shlex.join(["daxy", *sys.argv[1:]]) if is_own else ""


BITS = ("daxy", "jax", "device", "device_kind", "devices", "processor", "settings")
"""Fields that the bits of a training depend on, besides configuration and group."""


def resumed(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return the environment of a resumed run.

    Its list `resumed` has an entry for each resume in another environment: the fields of `BITS`
    that differ, and the date.
    """
    changes = list(before.get("resumed", ()))
    # Earlier versions recorded no settings.
    last, now = ({"settings": {}, **environment} for environment in (before, now))
    for change in changes:
        last |= change
    if change := {name: now.get(name) for name in BITS if now.get(name) != last.get(name)}:
        changes.append({**change, "started": now["started"]})
    return {**before, **({"resumed": changes} if changes else {})}


def everywhere(environment: Mapping[str, Any], name: str) -> str:
    """Return all values of a field of `BITS`: the first one, then those of each resume."""
    changes = environment.get("resumed", ())
    values = [environment.get(name, ""), *(it[name] for it in changes if name in it)]
    return ", ".join(dict.fromkeys(values))
