"""What becomes of many programs when one of them fails, or is refused: the others go on."""

from __future__ import annotations

from collections.abc import Sequence

from daxy.core.errors import DaxyError, RunFailed


def end(failures: Sequence[DaxyError]) -> None:
    """End what is finished but for these failures.

    Raises:
        RunFailed: there was a failure; says the first, and how many more there were.
    """
    if failures:
        more = f"; {len(failures) - 1} more failed" if len(failures) > 1 else ""
        raise RunFailed(f"{failures[0]}{more}; all others are finished")
