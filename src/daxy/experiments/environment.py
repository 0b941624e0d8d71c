"""Where a run happens: enough to judge whether its bits can be expected again."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import jax

from daxy.version import __version__


def describe(group: Sequence[str]) -> dict[str, Any]:
    """Return versions, device and date, and the names of the runs that train as one program."""
    device = jax.devices()[0]
    return {
        "daxy": __version__,
        "python": platform.python_version(),
        "jax": jax.__version__,
        "sacrebleu": version("sacrebleu"),
        "device": device.platform,
        "device_kind": device.device_kind,
        "devices": jax.device_count(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "group": list(group),
    }
