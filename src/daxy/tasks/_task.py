"""What every task can do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Generic, TypeVar

import numpy as np

from daxy import metrics
from daxy.core.display import Brief
from daxy.core.errors import require
from daxy.core.examples import Example, Examples, Tokens
from daxy.core.split import Sizes, Split
from daxy.tasks._by_rules import ByRules
from daxy.tasks._dataset_options import DatasetOptions
from daxy.tasks._files import OfficialFiles
from daxy.tasks._scored import Scored

SHOWN_TOKENS = 12
"""Tokens of one side of an example that a card shows."""

Options = TypeVar("Options", bound=DatasetOptions)
"""What users can choose of a task's data."""


@dataclass(frozen=True, kw_only=True)
class Task(Brief, ByRules, Scored, Generic[Options]):
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
    def is_stream(self) -> bool:
        """Whether there are always more examples to train on: its splits have a stream."""
        return False

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
        return self.build(plain)

    @abstractmethod
    def build(self, data: Options) -> Split:
        """Return the data that is chosen; see `split`."""

    def files(self) -> OfficialFiles | None:
        """Return the files that the task is; None for a task that is generated."""
        return None

    def statistics(self, split: Split) -> dict[str, float]:  # noqa: ARG002 - for those that do
        """Return figures that belong beside every score, by name; none for most tasks."""
        return {}

    def facts(self, examples: Examples) -> dict[str, float]:  # noqa: ARG002
        """Return what is told of a part beside how many examples it has, by name."""
        return {}

    def distributions(self, examples: Examples) -> dict[str, dict[str, int]]:  # noqa: ARG002
        """Return how many examples of a part there are of each kind, by what kinds are of."""
        return {}

    @property
    def aliases(self) -> Mapping[str, str]:
        """Other names of tokens of the targets, as `LTURN` of `I_TURN_LEFT`; most have none."""
        return {}

    @property
    def source_name(self) -> str:
        """What a source is: a `command` in most tasks."""
        return "command"

    @property
    def card(self) -> str:
        """What the task tests, how it splits and how it is scored, as Markdown."""
        return self.card_of(self.rule)

    def card_of(self, rule: str) -> str:
        """Return the card of a split that came about by this rule."""
        lines = [f"# {self.name}", "", self.summary, ""]
        lines += [f"- Paper: {self.paper}", f"- Split: {rule}"]
        each = ", ".join(f"{name} {count}" for name, count in self.sizes.tests.items())
        generated, printed = self.sizes, self.published_sizes
        if printed not in (None, generated):
            assert printed is not None
            lines += [f"- Published sizes: {printed.train} train lines, {printed.test} test lines"]
        sizes = f"{generated.train} train lines, {generated.test} test lines"
        known = (
            "Published sizes" if printed == generated else "Sizes as generated" if printed else "Sizes"
        )
        lines += [f"- {known}: {sizes}{f' ({each})' if each else ''}"]
        files = self.files()
        lines += files.card if files else []
        lines += [f"- Score: {name}: {metrics.get(name).summary}" for name in self.metrics]
        return "\n".join(lines) + "\n"


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
