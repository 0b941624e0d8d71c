"""Base class of every verb of the command line."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import tyro

if TYPE_CHECKING:
    from daxy.cli._result import Result


Switch = tyro.conf.FlagCreatePairsOff[bool]
"""Type of a flag that is off by default; other switches have a `--no-` twin."""


@dataclass(frozen=True, kw_only=True)
class Verb(ABC):
    """A request; its fields are the flags and arguments."""

    leading: ClassVar[tuple[str, ...]] = ()
    """The first arguments, where the flags depend on them: a task, or a task and a learner."""
    names: ClassVar[tuple[str, ...]] = ()
    """Names of the task and the learner that this variant is for."""
    help_names: ClassVar[tuple[str, ...]] = ()
    """Names after the verb with which `--help` lists all of these flags."""
    conditional: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Prefixes of flags that exist only with another flag, mapped to that flag."""

    json: Switch = False
    """Print one JSON object on stdout and everything else on stderr."""
    debug: Switch = False
    """Show where in the program an error came from."""

    @classmethod
    def variants(cls, words: Sequence[str]) -> Iterator[type[Verb]]:
        """Yield this verb with the flags of each benchmark or learner that the words may name."""
        del words
        yield cls

    @classmethod
    def expanded(cls, words: Sequence[str]) -> Sequence[str]:
        """Return the words of a request with those of a file that they name."""
        return words

    @classmethod
    def with_fields(cls, *fields: tuple[str, Any, Any], **attributes: Any) -> type[Self]:
        """Return this verb with more fields and with these class attributes."""
        namespace = {"__doc__": cls.__doc__, **attributes}
        options: Any = {"bases": (cls,), "frozen": True, "kw_only": True, "namespace": namespace}
        return make_dataclass(cls.__name__, fields, **options)

    @abstractmethod
    def run(self) -> Result:
        """Return the answer.

        Raises:
            DaxyError: the request cannot be served.
        """
