"""Rules of a task: meanings of sources, and which targets and predictions are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from daxy.core.disagreement import Disagreement
from daxy.core.errors import WrongRequest, require
from daxy.core.examples import Example, Examples, Sequences, Tokens
from daxy.core.tokens import mismatch
from daxy.languages import Language
from daxy.tasks._checked import CheckResult, Count
from daxy.worlds.world import World


class NoRules(WrongRequest):
    """A task without rules: daxy does not know its language."""


class ByRules:
    """The part of a task that knows its language."""

    name: str
    language: ClassVar[Language[Any] | None] = None
    """Language of the sources; None: unknown."""
    is_mirrored: ClassVar[bool] = False
    """Whether the targets are sentences of the language, and the sources their meanings."""
    own_format: ClassVar[str] = ""
    """Name of a file format that only this benchmark has."""
    shared_rules: ClassVar[str] = ""
    """Benchmark whose tasks share their rules; empty: the task has its own."""

    @property
    def grounded(self) -> bool:
        """Whether the meaning of a source depends on a world."""
        return self.language is not None and self.language.is_grounded

    @property
    def checked_as(self) -> str:
        """The task, or the benchmark whose tasks share their rules."""
        return self.shared_rules or self.name

    def meaning(self, source: Tokens, world: World | None = None) -> Tokens:
        """Return the right target of a source; the first of several.

        Args:
            source: The tokens of the source.
            world: The world of a grounded source.

        Raises:
            NoRules: the task has no rules.
            WrongRequest: the source is not of the task's language.
        """
        if self.language is None or self.is_mirrored:
            raise NoRules(f"no rules say which targets of {self.name} are right")
        return self.language.denote(self.language.parse(source), world)

    def targets(self, source: Tokens, world: World | None = None) -> tuple[Tokens, ...]:
        """Return all right targets of a source; see `meaning`."""
        return (self.meaning(source, world),)

    def accepts(self, example: Example, prediction: Tokens) -> bool:
        """Whether a prediction is right by the rules."""
        return prediction in self.targets(example.source, example.world)

    def accepted(self, examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
        """Return where a prediction equals the target or is right by the rules."""
        right = examples.target.matches(predictions)
        for row in np.flatnonzero(~right).tolist():
            right[row] = self.accepts(examples[row], predictions[row])
        return right

    def disagreement(self, source: Tokens, target: Tokens) -> str | None:
        """Return the error in a pair; None for a right pair.

        Raises:
            NoRules: the task has no rules.
        """
        unknown = f"no rules say which pairs of {self.name} are right"
        if self.grounded:
            raise NoRules(unknown)
        try:
            right = self.targets(source)
        except NoRules:
            raise NoRules(unknown) from None
        except WrongRequest as error:
            return str(error)
        if target in right:
            return None
        place, wanted, actual = mismatch(right[0], target)
        return f"token {place} of the target is {actual}; expected {wanted}"

    def recognises(self, examples: Sequence[Example]) -> bool:
        """Whether the first examples of a file are right by the rules of this task."""
        try:
            return all(self.disagreement(each.source, each.target) is None for each in examples)
        except NoRules:
            return False

    def counts(self, examples: Sequence[Example]) -> dict[str, Count]:
        """Return the counts that `daxy verify` prints with the disagreements."""
        repeated = len(examples) - len({example.key for example in examples})
        return {"duplicates": Count(repeated, "duplicates")}

    def disagreements(self, parts: Mapping[str, Examples]) -> list[Disagreement]:
        """Return the examples that disagree with the rules, whatever their part."""
        return [
            Disagreement(name, number, problem)
            for name, examples in parts.items()
            for number, pair in enumerate(zip(examples.source, examples.target, strict=True))
            if (problem := self.disagreement(*pair))
        ]

    def check(self, parts: Mapping[str, Examples]) -> CheckResult:
        """Return the examples that disagree with the rules, or are in a wrong part."""
        return CheckResult(
            checked_as=self.checked_as,
            parts={name: len(examples) for name, examples in parts.items()},
            wrong=self.disagreements(parts),
            counts=self.counts([each for examples in parts.values() for each in examples]),
        )

    def examine(self, path: Path) -> CheckResult:
        """Return the examples of a file in `own_format` that disagree with the rules.

        Raises:
            WrongRequest: the task has no such format.
            WrongFile: the file cannot be read.
        """
        raise WrongRequest(f"{path}: {self.name} has no file format of its own")

    def contents(self, path: Path) -> tuple[Mapping[str, Examples], list[Disagreement]]:
        """Return the examples of a file in `own_format`, and those that disagree with the rules.

        Raises:
            WrongRequest: the task has no such format.
            WrongFile: the file cannot be read.
        """
        raise WrongRequest(f"{path}: {self.name} has no file format of its own")

    def read(self, text: str) -> Tokens:
        """Return the tokens of a source that a user typed."""
        if self.language is not None and not self.is_mirrored:
            return self.language.words(text)
        return tuple(map(self.source_spelling, text.split()))

    def source_spelling(self, token: str) -> str:
        """Return a token in the spelling of this task's sources."""
        return token

    def on(self, official: Path | None) -> Self:
        """Return the task with the official files that `disagreement` compares pairs with.

        Raises:
            WrongRequest: the task has rules and needs no files.
        """
        require(official is None, f"{self.name} is checked by its rules; leave out --official")
        return self
