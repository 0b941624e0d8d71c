"""What every verb of the command line has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import tyro

if TYPE_CHECKING:
    from daxy.cli._result import Result


Switch = tyro.conf.FlagCreatePairsOff[bool]
"""The type of a flag that is off unless given; other flags have a `--no-` twin."""


@dataclass(frozen=True, kw_only=True)
class Verb(ABC):
    """A request, as its fields say; `run` answers it."""

    after: ClassVar[str] = ""
    """What has to stand after the verb for its help to have all of these flags."""
    aliases: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Flags that may also be called otherwise, by that other name."""
    brought: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """How flags begin that are there beside another one alone, with that one."""

    json: Switch = False
    """Print one JSON object on stdout and everything else on stderr."""
    debug: Switch = False
    """Show where in the program an error came from."""

    @abstractmethod
    def run(self) -> Result:
        """Return the answer.

        Raises:
            DaxyError: the request cannot be served.
        """
