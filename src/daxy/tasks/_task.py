"""What every task can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from daxy import metrics
from daxy.core.disagreement import Disagreement
from daxy.core.display import Brief
from daxy.core.errors import WrongRequest, quote, require
from daxy.core.examples import Example, Examples, Predictions, Sequences, Tokens
from daxy.core.split import Sizes, Split
from daxy.core.tokens import first_difference
from daxy.languages import Language
from daxy.metrics import Scores
from daxy.tasks._checked import Checked, Count
from daxy.tasks._data import Data
from daxy.tasks._files import OfficialFiles
from daxy.worlds.grid import World

SHOWN_TOKENS = 12
"""Tokens of one side of an example that a card shows."""

Options = TypeVar("Options", bound=Data)
"""What users can choose of a task's data."""


class NoRules(WrongRequest):
    """A task whose language daxy does not know: no rules say what a source means."""


@dataclass(frozen=True, kw_only=True)
class Task(Brief, ABC, Generic[Options]):
    """A question about generalisation: data to learn from, data and scores to be judged by."""

    name: str
    """As users type it: `scan/addprim_jump`."""
    family: str
    """The name with braces for what varies among its kin: `scan/simple_p{1,2,4,8,16,32,64}`."""
    summary: str
    """One line: what the task tests."""
    paper: str
    """Where it was published."""
    rule: str
    """Which commands are in which part, in words."""
    sizes: Sizes
    """The published sizes in lines, without a validation set; where none are, those unless chosen
    otherwise."""
    metrics: tuple[str, ...]
    """Names of the scores it is judged by, the one that papers print first."""

    @property
    def _brief(self) -> str:
        return f"{self.name}: {self.summary}"

    @property
    def metric(self) -> str:
        """The name of the primary metric: what papers print and models are selected by."""
        return self.metrics[0]

    @property
    def published(self) -> bool:
        """Whether its sizes are published."""
        return True

    @property
    def published_sizes(self) -> Sizes | None:
        """The published sizes; None where none are."""
        return self.sizes if self.published else None

    @property
    def endless(self) -> bool:
        """Whether there are always more examples to train on: its splits have a stream."""
        return False

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

    @property
    @abstractmethod
    def options(self) -> type[Options]:
        """What users can choose of its data."""

    def split(self, data: Options | None = None) -> Split:
        """Return the data of this task. A split that is a rule draws its validation set alone.

        Args:
            data: What is chosen; as published unless given.

        Raises:
            WrongRequest: a choice that this task does not have.
            WrongFile: an official file is missing, or a line of it is wrong.
        """
        chosen = self.options() if data is None else data
        other = f"the data of {self.name} is chosen by {self.options.__name__}"
        names = [{field.name for field in fields(each)} for each in (chosen, self.options)]
        fits = isinstance(chosen, self.options) and names[0] == names[1]
        require(fits, f"{other}, not by {type(chosen).__name__}")
        # A kind of its own, as the command line has one, is one to other processes too.
        plain = chosen if type(chosen) is self.options else self.options(**vars(chosen))
        return self.made(plain)

    @abstractmethod
    def made(self, data: Options) -> Split:
        """Return the data that is chosen; see `split`."""

    def files(self) -> OfficialFiles | None:
        """Return the files that the task is; None for a task that is generated."""
        return None

    def on(self, official: Path | None) -> Self:
        """Return the task with files by which `disagreement` tells right pairs.

        Raises:
            WrongRequest: the task has rules, and needs no files.
        """
        require(official is None, f"{self.name} is checked by its rules; leave out --official")
        return self

    def statistics(self, split: Split) -> dict[str, float]:  # noqa: ARG002 - for those that do
        """Return figures that belong beside every score, by name; none for most tasks."""
        return {}

    def facts(self, examples: Examples) -> dict[str, float]:  # noqa: ARG002
        """Return what is told of a part beside how many examples it has, by name."""
        return {}

    def distributions(self, examples: Examples) -> dict[str, dict[str, int]]:  # noqa: ARG002
        """Return how many examples of a part there are of each kind, by what kinds are of."""
        return {}

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

    @property
    def aliases(self) -> Mapping[str, str]:
        """Other names of tokens of the targets, as `LTURN` of `I_TURN_LEFT`; most have none."""
        return {}

    @property
    def source_name(self) -> str:
        """What a source is: a `command` in most tasks."""
        return "command"

    def score(self, metric: str, examples: Examples, predictions: Sequences) -> Scores:
        """Return a metric's value of each prediction, in the order of the examples."""
        given = Predictions.of_sequences(predictions)
        return metrics.get(metric).score(self, examples, given)

    def total(
        self,
        metric: str,
        examples: Examples,
        predictions: Sequences,
        scores: Scores | None = None,
    ) -> float:
        """Return a metric's one figure; `scores` are those of `score`, where they are known."""
        given = Predictions.of_sequences(predictions)
        return metrics.get(metric).total(self, examples, given, scores)

    def scores(self, examples: Examples, predictions: Sequences) -> dict[str, Scores]:
        """Return each metric's value of each prediction, in the order of the examples."""
        return {name: self.score(name, examples, predictions) for name in self.metrics}

    def totals(
        self,
        examples: Examples,
        predictions: Sequences,
        scores: Mapping[str, Scores] | None = None,
    ) -> dict[str, float]:
        """Return each metric's one figure, between 0 and 1, as papers print it in percent.

        `scores` are those of `scores`, where they are known.
        """
        known = scores or {}
        return {
            name: self.total(name, examples, predictions, known.get(name)) for name in self.metrics
        }

    def by_test(
        self,
        examples: Examples,
        tests: Mapping[str, slice],
        predictions: Sequences,
        scores: Mapping[str, Scores],
    ) -> dict[str, dict[str, float]]:
        """Return the totals of each of several tests by its name; nothing where test is one.

        Args:
            examples: Those of all tests.
            tests: Where each test is; one without examples has no totals.
            predictions: For all examples.
            scores: Of all of them, by metric.
        """
        return {
            name: self.totals(
                examples[rows],
                predictions[rows],
                {metric: each[rows] for metric, each in scores.items()},
            )
            for name, rows in tests.items()
            if rows.start < rows.stop
        }

    @property
    def card(self) -> str:
        """What the task tests, how it splits and how it is scored, as Markdown."""
        return self.card_of(self.rule)

    def card_of(self, rule: str) -> str:
        """Return the card of a split that came about by this rule."""
        lines = [f"# {self.name}", "", self.summary, ""]
        lines += [f"- Paper: {self.paper}", f"- Split: {rule}"]
        each = ", ".join(f"{name} {count}" for name, count in self.sizes.tests.items())
        made, printed = self.sizes, self.published_sizes
        if printed not in (None, made):
            assert printed is not None
            lines += [f"- Published sizes: {printed.train} train lines, {printed.test} test lines"]
        sizes = f"{made.train} train lines, {made.test} test lines"
        known = (
            "Published sizes" if printed == made else "Sizes as generated" if printed else "Sizes"
        )
        lines += [f"- {known}: {sizes}{f' ({each})' if each else ''}"]
        files = self.files()
        lines += files.card if files else []
        lines += [f"- Score: {name}: {metrics.get(name).summary}" for name in self.metrics]
        return "\n".join(lines) + "\n"


def _first_difference(right: Tokens, given: Tokens) -> str:
    """Return where a target differs first from the right one."""
    place = first_difference(right, given)
    assert place is not None
    found, wanted = ((*tokens, "the end")[place] for tokens in (given, right))
    return f"token {place + 1} of the target is {quote(found)}; expected {quote(wanted)}"


def typical(split: Split) -> list[Example]:
    """Return two test examples for a card: the one with the shortest target, and the middle one."""
    test = split.test
    if not len(test):
        return []
    shortest = np.lexsort((test.source.lengths, test.target.lengths))[0]
    return [test[row] for row in dict.fromkeys((int(shortest), len(test) // 2))]


def in_one_line(example: Example) -> str:
    """Return `source -> target` for a card; of a long side the first tokens and how many it has."""
    return " -> ".join(map(_shortened, (example.source, example.target)))


def _shortened(tokens: Tokens) -> str:
    if len(tokens) <= SHOWN_TOKENS:
        return " ".join(tokens)
    return f"{' '.join(tokens[:SHOWN_TOKENS])} ... ({len(tokens)} tokens)"
