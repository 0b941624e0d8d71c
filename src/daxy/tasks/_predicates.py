"""Predicates of commands; their texts follow the word `commands`: `with jump`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from daxy.core.examples import Tokens
from daxy.languages import scan

Predicate = Callable[[Tokens], bool]


@dataclass(frozen=True)
class Contains:
    """Whether a phrase occurs in the command."""

    phrase: str

    def __call__(self, command: Tokens) -> bool:
        return f" {self.phrase} " in f" {' '.join(command)} "

    def __str__(self) -> str:
        return f"with `{self.phrase}`"


@dataclass(frozen=True)
class Composes:
    """Whether a phrase and other words occur in the command."""

    phrase: str

    def __call__(self, command: Tokens) -> bool:
        return command != tuple(self.phrase.split()) and Contains(self.phrase)(command)

    def __str__(self) -> str:
        return f"with `{self.phrase}` and other words"


@dataclass(frozen=True)
class ContainsAny:
    """Whether one of several phrases occurs in the command."""

    phrases: tuple[str, ...]

    def __call__(self, command: Tokens) -> bool:
        return any(Contains(phrase)(command) for phrase in self.phrases)

    def __str__(self) -> str:
        return f"with {' or '.join(f'`{phrase}`' for phrase in self.phrases)}"


@dataclass(frozen=True)
class ButNot:
    """Whether one predicate holds and another does not."""

    included: Predicate
    excluded: Predicate

    def __call__(self, command: Tokens) -> bool:
        return self.included(command) and not self.excluded(command)

    def __str__(self) -> str:
        return f"{self.included}, but not {self.excluded}"


@dataclass(frozen=True)
class LongerThan:
    """Whether a command means more than a number of actions."""

    actions: int

    def __call__(self, command: Tokens) -> bool:
        return len(scan.meanings()[command]) > self.actions

    def __str__(self) -> str:
        return f"of more than {self.actions} actions"


NEVER = ContainsAny(())
"""Holds of no command."""
