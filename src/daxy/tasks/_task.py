"""Base class of tasks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, TypeVar, cast

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
"""The options of a task's data."""


@dataclass(frozen=True, kw_only=True)
class Task(Brief, ByRules, Scored, Generic[Options]):
    """A benchmark: its data, its rules and its metrics."""

    options: ClassVar[type[Any]]
    """Class of the options of its data."""
    published: ClassVar[bool] = True
    """Whether its sizes are published."""
    is_generated: ClassVar[bool] = True
    """Whether its data needs no files."""
    is_stream: ClassVar[bool] = False
    """Whether training examples are unlimited: its splits have a stream."""
    aliases: ClassVar[Mapping[str, str]] = {}
    """Other names of target tokens, as `LTURN` of `I_TURN_LEFT`."""
    source_name: ClassVar[str] = "command"
    """Noun for a source."""

    name: str
    """`scan/addprim_jump`."""
    family: str
    """The name with braces around the varying part: `scan/simple_p{1,2,4,8,16,32,64}`."""
    summary: str
    """One line on what the task tests."""
    paper: str
    """The paper that published it."""
    rule: str
    """The split in words."""
    sizes: Sizes
    """Published sizes in lines, without a validation set; else the sizes by default."""
    metrics: tuple[str, ...]
    """Names of its metrics; papers print the first."""
    version: int = 1
    """Version of the generator: a change that gives other data for the same options raises it. It
    is a part of the name of every run on generated data."""

    @property
    def _brief(self) -> str:
        return f"{self.name}: {self.summary}"

    @property
    def metric(self) -> str:
        """Name of the primary metric, which papers print and checkpoints are selected by."""
        return self.metrics[0]

    @property
    def published_sizes(self) -> Sizes | None:
        """The published sizes; None where none are."""
        return self.sizes if self.published else None

    def split(self, data: Options | None = None) -> Split:
        """Return the data of this task.

        Args:
            data: The options; as published by default.

        Raises:
            WrongRequest: an option that this task does not have.
            WrongFile: an official file is missing or has a wrong line.
        """
        chosen: Any = self.options() if data is None else data
        other = f"the data of {self.name} is chosen by {self.options.__name__}"
        names = [{field.name for field in fields(each)} for each in (chosen, self.options)]
        is_own = isinstance(chosen, self.options) and names[0] == names[1]
        is_general = issubclass(self.options, type(chosen))  # `ScanOptions` for all of SCAN
        require(is_own or is_general, f"{other}, not by {type(chosen).__name__}")
        # Other processes cannot import a class that the command line made.
        plain = chosen if type(chosen) is self.options else self.options(**vars(chosen))
        split = self.build(cast("Options", plain))
        is_read = chosen.official is None or split.provenance.source.startswith("official")
        require(is_read, f"{self.name} has no official files; leave out --official")
        return split

    @abstractmethod
    def build(self, data: Options) -> Split:
        """Return the data of these options; see `split`."""

    def files(self) -> OfficialFiles | None:
        """Return the files of a task of files; None for a generated task."""
        return None

    def statistics(self, split: Split) -> dict[str, float]:  # noqa: ARG002 - for those that do
        """Return figures of a split that are printed with every score."""
        return {}

    def facts(self, examples: Examples) -> dict[str, float]:  # noqa: ARG002
        """Return figures of a part, by name."""
        return {}

    def distributions(self, examples: Examples) -> dict[str, dict[str, int]]:  # noqa: ARG002
        """Return counts of a part's examples by value, for each variable."""
        return {}

    @property
    def card(self) -> str:
        """The task's card: summary, split and metrics, as Markdown."""
        return self.card_of(self.rule)

    def card_of(self, rule: str) -> str:
        """Return the card of a split with this rule."""
        lines = [f"# {self.name}", "", self.summary, ""]
        lines += [f"- Paper: {self.paper}"] if self.paper else []
        lines += [f"- Split: {rule}"]
        each = ", ".join(f"{name} {count}" for name, count in self.sizes.tests.items())
        generated, printed = self.sizes, self.published_sizes
        if printed is not None and printed != generated:
            lines += [f"- Published sizes: {printed.train} train lines, {printed.test} test lines"]
        sizes = f"{generated.train} train lines, {generated.test} test lines"
        label = "Sizes as generated" if printed else "Sizes"
        label = "Published sizes" if printed == generated else label
        lines += [f"- {label}: {sizes}{f' ({each})' if each else ''}"] if generated.train else []
        files = self.files()
        lines += files.card if files else []
        lines += [f"- Score: {name}: {metrics.get(name).summary}" for name in self.metrics]
        return "\n".join(lines) + "\n"


def typical(split: Split) -> list[Example]:
    """Return two test examples for a card: the one with the shortest target and the middle one."""
    test = split.test
    if not len(test):
        return []
    shortest = np.lexsort((test.source.lengths, test.target.lengths))[0]
    return [test[row] for row in dict.fromkeys((int(shortest), len(test) // 2))]


def in_one_line(example: Example) -> str:
    """Return `source -> target`; a long side is cut after its first tokens."""
    return " -> ".join(map(_shortened, (example.source, example.target)))


def _shortened(tokens: Tokens) -> str:
    if len(tokens) <= SHOWN_TOKENS:
        return " ".join(tokens)
    return f"{' '.join(tokens[:SHOWN_TOKENS])} ... ({len(tokens)} tokens)"
