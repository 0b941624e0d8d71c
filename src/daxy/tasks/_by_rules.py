"""What a source means, and which targets and predictions are right, by the rules of a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from daxy.core.disagreement import Disagreement
from daxy.core.errors import WrongRequest, quote, require
from daxy.core.examples import Example, Examples, Sequences, Tokens
from daxy.core.tokens import first_difference
from daxy.languages import Language
from daxy.tasks._checked import Checked, Count
from daxy.worlds.grid import World


class NoRules(WrongRequest):
    """A task whose language daxy does not know: no rules say what a source means."""


class ByRules:
    """The part of a task that knows its language."""

    name: str

    @property
    def language(self) -> Language[Any] | None:
        """The language of its sources; None where none is known."""
        return None

    @property
    def is_mirrored(self) -> bool:
        """Whether the targets are sentences of the language, and the sources what they mean."""
        return False

    @property
    def grounded(self) -> bool:
        """Whether its sources mean something in a world alone."""
        return self.language is not None and self.language.is_grounded

    @property
    def own_format(self) -> str:
        """The name of a file format that this benchmark alone has."""
        return ""

    @property
    def checked_as(self) -> str:
        """What pairs are checked as: the task, or the benchmark whose tasks share their rules."""
        return self.name

    def meaning(self, source: Tokens, world: World | None = None) -> Tokens:
        """Return the target of a source by the rules of this task; of several, the first.

        Args:
            source: The tokens of the source.
            world: The world of a grounded source.

        Raises:
            NoRules: no rules say what a source means.
            WrongRequest: the source is not of the task's language.
        """
        if self.language is None or self.is_mirrored:
            raise NoRules(f"no rules say which targets of {self.name} are right")
        return self.language.denote(self.language.parse(source), world)

    def targets(self, source: Tokens, world: World | None = None) -> tuple[Tokens, ...]:
        """Return all right targets of a source; see `meaning`, which returns the only one."""
        return (self.meaning(source, world),)

    def accepts(self, example: Example, prediction: Tokens) -> bool:
        """Whether a prediction is as right as the example's target by the rules; see `meaning`."""
        return prediction in self.targets(example.source, example.world)

    def accepted(self, examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
        """Return where a prediction equals the target or is as right; see `accepts`."""
        right = examples.target.matches(predictions)
        for row in np.flatnonzero(~right).tolist():
            right[row] = self.accepts(examples[row], predictions[row])
        return right

    def disagreement(self, source: Tokens, target: Tokens) -> str | None:
        """Return what is wrong with a pair by the rules of this task; None where nothing is.

        Raises:
            NoRules: no rules say which pairs are right.
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
        return None if target in right else _first_difference(right[0], target)

    def recognises(self, examples: Sequence[Example]) -> bool:
        """Whether the first examples of a file are of this task, by its rules."""
        try:
            return all(self.disagreement(each.source, each.target) is None for each in examples)
        except NoRules:
            return False

    def counts(self, examples: Sequence[Example]) -> dict[str, Count]:
        """Return what `daxy verify` counts beside disagreements."""
        repeated = len(examples) - len({example.key for example in examples})
        return {"duplicates": Count(repeated, "duplicates")}

    def check(self, parts: Mapping[str, Examples]) -> Checked:
        """Return which examples disagree with the rules; see `disagreement`."""
        wrong = [
            Disagreement(name, number, problem)
            for name, examples in parts.items()
            for number, pair in enumerate(zip(examples.source, examples.target, strict=True))
            if (problem := self.disagreement(*pair))
        ]
        return Checked(
            checked_as=self.checked_as,
            parts={name: len(examples) for name, examples in parts.items()},
            wrong=wrong,
            counts=self.counts([each for examples in parts.values() for each in examples]),
        )

    def examine(self, path: Path) -> Checked:
        """Return which examples of a file in the task's `own_format` disagree with the rules.

        Raises:
            WrongRequest: the task has no such format.
            WrongFile: the file cannot be read.
        """
        raise WrongRequest(f"{path}: {self.name} has no file format of its own")

    def read(self, text: str) -> Tokens:
        """Return the tokens of a source as people write it."""
        if self.language is not None and not self.is_mirrored:
            return self.language.words(text)
        return tuple(map(self.source_spelling, text.split()))

    def source_spelling(self, token: str) -> str:
        """Return a token as this task's sources spell it; most tasks know one spelling only."""
        return token

    def on(self, official: Path | None) -> Self:
        """Return the task with files by which `disagreement` tells right pairs.

        Raises:
            WrongRequest: the task has rules, and needs no files.
        """
        require(official is None, f"{self.name} is checked by its rules; leave out --official")
        return self


def _first_difference(right: Tokens, given: Tokens) -> str:
    """Return where a target differs first from the right one."""
    place = first_difference(right, given)
    assert place is not None
    found, wanted = ((*tokens, "the end")[place] for tokens in (given, right))
    return f"token {place + 1} of the target is {quote(found)}; expected {quote(wanted)}"
