"""Answers of verbs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:  # `daxy --help` imports this file, and waits for no parser of flags
    from typing import Any

    from rich.console import RenderableType


@dataclass(frozen=True, kw_only=True)
class Result:
    """The answer of a verb."""

    data: Mapping[str, Any]
    """JSON object that `--json` prints."""
    text: RenderableType
    """The answer for a person: a string, or anything that rich can print."""
    exit_code: int = 0
