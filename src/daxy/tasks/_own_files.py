"""A user's own examples as a task of a benchmark, whose rules check each of them.

`daxy.tasks.pairs` takes any pairs. Here a pair has to be what its benchmark says: for SCAN, a
command with the actions that it means. So analyses know the constructions of the commands, and
scores accept all that the benchmark accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from daxy import formats
from daxy.core.disagreement import Disagreement
from daxy.core.display import counted
from daxy.core.errors import WrongFile, quote
from daxy.core.examples import Example, Examples, Sequences, Tokens
from daxy.core.split import Sizes
from daxy.formats.layout import Layout, Parts, Rows, part_of
from daxy.languages import Language
from daxy.tasks._checked import Count
from daxy.tasks._pairs_options import OwnFilesOptions, PairsOptions
from daxy.tasks._task import Task
from daxy.tasks.pairs import PairsTask, Reader
from daxy.worlds.world import World

MOST_NAMED = 5
"""Maximum number of wrong examples that an error names; it describes the first."""
WORLDS = "JSON lines or Parquet with worlds, or a `dataset.txt`"


class Wrong(NamedTuple):
    """A wrong example of a file."""

    path: Path | str
    line: int | None
    entry: str
    """Name of the example where it has no line: `row 3`, `train[2]`."""
    problem: str

    def __str__(self) -> str:
        return f"{self.path} {self.entry}" if self.line is None else f"{self.path}:{self.line}"


class CheckedReader(Reader):
    """Reads files of a benchmark, and finds the examples that its rules say are wrong."""

    def __init__(self, rules: Task[Any], data: OwnFilesOptions) -> None:
        self.rules = rules
        self.wrong = list[Wrong]()
        self.respelled = dict[str, str]()
        self.count_respelled = 0
        names = [field.name for field in fields(Layout)] if isinstance(data, Layout) else []
        layout = {name: getattr(data, name) for name in names}
        super().__init__(_CheckedLayout(reader=self, **layout))

    def read(self, path: Path) -> Parts:
        """Return the examples of a file or folder, by part."""
        return self._with_worlds(path) if self.rules.grounded else super().read(path)

    def accept(self, examples: Examples, rows: Rows) -> Examples:
        """Return the pairs of a file in the benchmark's spelling, and remember the wrong ones."""
        spelled = self._spelled(examples)
        for each in self.rules.disagreements({"": spelled}):
            error = rows.wrong(each.number, each.problem)
            self.wrong.append(Wrong(rows.path, error.line, f"row {each.number + 1}", each.problem))
        return spelled

    def finish(self) -> str:
        """Return a note on other spellings.

        Raises:
            WrongFile: an example is wrong; names the first ones, and says how many there are.
        """
        if self.wrong:
            first, *others = self.wrong
            places = [*map(str, others[: MOST_NAMED - 1]), *["..."] * (len(others) >= MOST_NAMED)]
            more = f" (and {counted(len(others), 'other example')}: {', '.join(places)})"
            entry = "" if first.line is not None else f"{first.entry}: "
            raise WrongFile(
                first.path, f"{entry}{first.problem}{more if others else ''}", line=first.line
            )
        if not self.respelled:
            return ""
        name, token = next(iter(self.respelled.items()))
        spelled = f"{counted(self.count_respelled, 'example')} in another spelling"
        return f"; {spelled}, as {name} for {token}"

    def _with_worlds(self, path: Path) -> Parts:
        """Return the examples of a file with worlds."""
        form = formats.pairs.format_of(path) if path.is_file() else ""
        if form == self.rules.own_format:
            contents, wrong = self.rules.contents(path)
        else:
            contents = formats.pairs.read(path).parts
            for name, part in contents.items():
                if part.worlds is None:
                    place = f"the part {quote(name)}" if name else "the file"
                    raise WrongFile(path, f"{place} has no worlds; expected {WORLDS}")
            contents = {name: self._spelled(part) for name, part in contents.items()}
            wrong = self.rules.disagreements(contents) if contents else []
        self.wrong += [Wrong(path, None, f"{it.split}[{it.number}]", it.problem) for it in wrong]
        return {part_of(name): part for name, part in contents.items() if len(part)}

    def _spelled(self, examples: Examples) -> Examples:
        """Return examples in the benchmark's spelling, and count those that were in another."""
        aliases = self.rules.aliases
        source, one = self._in_spelling(examples.source, self.rules.source_spelling)
        target, other = self._in_spelling(examples.target, lambda name: aliases.get(name, name))
        self.count_respelled += int((one | other).sum())
        return replace(examples, source=source, target=target)

    def _in_spelling(
        self, side: Sequences, spelling: Callable[[str], str]
    ) -> tuple[Sequences, NDArray[np.bool_]]:
        """Return sequences in the benchmark's spelling, and which ones were in another."""
        names = {name: token for name in side.symbols if (token := spelling(name)) != name}
        if not names:
            return side, np.zeros(len(side), np.bool_)
        changed = np.array([not names.keys().isdisjoint(tokens) for tokens in side], np.bool_)
        self.respelled |= names if changed.any() else {}
        return Sequences.of([names.get(it, it) for it in tokens] for tokens in side), changed


@dataclass(frozen=True, kw_only=True)
class _CheckedLayout(Layout):
    """A layout that hands the pairs of each file to their reader."""

    reader: CheckedReader

    def accept(self, examples: Examples, rows: Rows) -> Examples:
        """Return the pairs of a file in the benchmark's spelling."""
        return self.reader.accept(examples, rows)


@final
@dataclass(frozen=True, kw_only=True)
class OwnFilesTask(PairsTask):
    """A user's own examples, checked and scored by the rules of a task."""

    rules: Task[Any]
    """The task with these rules."""

    @property
    def options(self) -> type[OwnFilesOptions]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Class of the options: with the layout of the files, unless they have worlds."""
        return OwnFilesOptions if self.rules.grounded else PairsOptions

    @property
    def language(self) -> Language[Any] | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Language of the sources."""
        return self.rules.language

    @property
    def is_mirrored(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the targets are the sentences of the language."""
        return self.rules.is_mirrored

    @property
    def shared_rules(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Benchmark, or task, with these rules."""
        return self.rules.checked_as

    @property
    def aliases(self) -> Mapping[str, str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Other names of target tokens."""
        return self.rules.aliases

    @property
    def source_name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Noun for a source."""
        return self.rules.source_name

    def reader(self, data: OwnFilesOptions) -> CheckedReader:
        """Return a reader that finds the wrong examples of files."""
        return CheckedReader(self.rules, data)

    def meaning(self, source: Tokens, world: World | None = None) -> Tokens:
        """Return the right target of a source; the first of several."""
        return self.rules.meaning(source, world)

    def targets(self, source: Tokens, world: World | None = None) -> tuple[Tokens, ...]:
        """Return all right targets of a source."""
        return self.rules.targets(source, world)

    def accepted(self, examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
        """Return where a prediction equals the target or is right by the rules."""
        return self.rules.accepted(examples, predictions)

    def disagreement(self, source: Tokens, target: Tokens) -> str | None:
        """Return the error in a pair; None for a right pair."""
        return self.rules.disagreement(source, target)

    def disagreements(self, parts: Mapping[str, Examples]) -> list[Disagreement]:
        """Return the examples that disagree with the rules."""
        return self.rules.disagreements(parts)

    def counts(self, examples: Sequence[Example]) -> dict[str, Count]:
        """Return the counts that `daxy verify` prints with the disagreements."""
        return self.rules.counts(examples)

    def facts(self, examples: Examples) -> dict[str, float]:
        """Return figures of a part, by name."""
        return self.rules.facts(examples)

    def distributions(self, examples: Examples) -> dict[str, dict[str, int]]:
        """Return counts of a part's examples by value, for each variable."""
        return self.rules.distributions(examples)

    def source_spelling(self, token: str) -> str:
        """Return a token in the spelling of the sources."""
        return self.rules.source_spelling(token)


def own_files(rules: Task[Any], name: str, *, family: str = "", summary: str) -> OwnFilesTask:
    """Return the task of a user's own files with the rules of a task."""
    return OwnFilesTask(
        name=name,
        family=family or name,
        summary=summary,
        paper="",
        rule="as the files have it",
        sizes=Sizes(train=0, test=0),
        metrics=rules.metrics,
        rules=rules,
    )
