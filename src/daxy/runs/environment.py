"""Where a run happens: enough to judge whether its bits can be expected again."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from daxy.version import __version__


def describe(group: Sequence[str], learner: Mapping[str, Any]) -> dict[str, Any]:
    """Return versions, device and date, and the names of the runs that are fitted together.

    Args:
        group: Names of the runs.
        learner: What the learner depends on; see `Learner.environment`.
    """
    return {
        "daxy": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "sacrebleu": version("sacrebleu"),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        **learner,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "group": list(group),
    }


BITS = ("daxy", "jax", "device", "device_kind", "devices", "processor", "settings")
"""What the bits of a training depend on, beside its configuration and its group."""


def resumed(before: Mapping[str, Any], here: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a run that goes on here: also where it was before, if elsewhere.

    `resumed` has what differs, and since when, each time that a training went on somewhere else.
    """
    changes = list(before.get("resumed", ()))
    # Earlier versions recorded no settings.
    last, here = ({"settings": {}, **place} for place in (before, here))
    for change in changes:
        last |= change
    if change := {name: here.get(name) for name in BITS if here.get(name) != last.get(name)}:
        changes.append({**change, "started": here["started"]})
    return {**before, **({"resumed": changes} if changes else {})}


def everywhere(place: Mapping[str, Any], name: str) -> str:
    """Return what one of `BITS` was where a run began, then each other that it went on with."""
    changes = place.get("resumed", ())
    values = [place.get(name, ""), *(each[name] for each in changes if name in each)]
    return ", ".join(dict.fromkeys(values))
