"""Summary error for independent jobs of which some failed."""

from __future__ import annotations

from collections.abc import Sequence

from daxy.core.errors import DaxyError, RunFailed, with_notes


def end(failures: Sequence[DaxyError]) -> None:
    """Raise one error for all failures, if there are any.

    Raises:
        RunFailed: with the first failure and the number of others.
    """
    if failures:
        more = f"; {len(failures) - 1} more failed" if len(failures) > 1 else ""
        first = with_notes(str(failures[0]), failures[0])
        raise RunFailed(f"{first}{more}; all others are finished")
