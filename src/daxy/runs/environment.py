"""Where a run happens: enough to judge whether its bits can be expected again."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import jax
import numpy as np

from daxy.training.backend import recorded
from daxy.version import __version__


def describe(group: Sequence[str]) -> dict[str, Any]:
    """Return versions, device and date, and the names of the runs that train as one program."""
    device = jax.devices()[0]
    return {
        "daxy": __version__,
        "python": platform.python_version(),
        "jax": jax.__version__,
        "numpy": np.__version__,
        "sacrebleu": version("sacrebleu"),
        "device": device.platform,
        "device_kind": device.device_kind,
        "devices": jax.device_count(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "settings": recorded(),
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
    if change := {name: here[name] for name in BITS if here[name] != last.get(name)}:
        changes.append({**change, "started": here["started"]})
    return {**before, **({"resumed": changes} if changes else {})}


def everywhere(place: Mapping[str, Any], name: str) -> str:
    """Return what one of `BITS` was where a run began, then each other that it went on with."""
    values = [place[name], *(each[name] for each in place.get("resumed", ()) if name in each)]
    return ", ".join(dict.fromkeys(values))
