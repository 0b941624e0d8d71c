"""gSCAN: commands grounded in a grid world (Ruis et al. 2020).

Every command is demonstrated in every situation of each possible target. The predicates of the
tests select the held-out examples; an example of several tests is dropped.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, cast, final

import numpy as np
from numpy.typing import NDArray

from daxy.core.disagreement import Disagreement
from daxy.core.errors import UnknownName, require
from daxy.core.examples import Example, Examples, Sequences
from daxy.core.random import stream
from daxy.core.split import Option, Sizes, Split
from daxy.formats import gscan_json
from daxy.formats._gscan_writing import PARTS
from daxy.formats.gscan_json import Dataset
from daxy.languages import gscan
from daxy.languages.scan import turn_names
from daxy.tasks import _gscan_official as _official
from daxy.tasks import _gscan_statistics as _statistics
from daxy.tasks._cached import cached
from daxy.tasks._checked import CheckResult, Count
from daxy.tasks._gscan_examples import Demonstrations, generate_all
from daxy.tasks._gscan_options import CompositionalOptions, GscanOptions, LengthOptions
from daxy.tasks._gscan_predicates import HELD_OUT, held_out
from daxy.tasks._own_files import own_files
from daxy.tasks._task import Task
from daxy.worlds.execution import executed_rows
from daxy.worlds.grid import LEFT, RIGHT

RUIS = "Ruis et al. 2020, A benchmark for systematic generalization in grounded language"

Rows = NDArray[np.int64]
Kind = TypeVar("Kind", bound=GscanOptions)

LEARNED = {name: PARTS[name] for name in ("train", "validation")}
TESTS = dict(zip("BCDEFGH", HELD_OUT, strict=True))
"""Official names of the held-out tests, by the paper's letters."""
LONGER = ("G", "H")
"""Tests without examples longer than those of train, according to the paper."""


@dataclass(frozen=True, kw_only=True)
class GscanTask(Task[Kind], Generic[Kind]):
    """A split of gSCAN, scored by exact match and by execution."""

    language = gscan.LANGUAGE
    own_format = "gscan-json"
    shared_rules = "gscan"
    aliases: ClassVar[Mapping[str, str]] = {
        name: turn
        for turn, direction in ((LEFT, "left"), (RIGHT, "right"))
        for name in turn_names(direction)
    }
    options_in_file: ClassVar[tuple[str, ...]] = ("grid", "kind", "spin", "train_fraction")
    """Options that an official file states."""
    official_parts: ClassVar[Mapping[str, str]]
    """Official names of train, validation and each test, by daxy's names."""

    def recognises(self, examples: Sequence[Example]) -> bool:
        """Whether the examples have worlds."""
        return bool(examples) and all(example.world is not None for example in examples)

    def check(self, parts: Mapping[str, Examples]) -> CheckResult:
        """Return the examples that are inconsistent, against the rules or in a wrong part.

        Args:
            parts: The examples by daxy's names of parts or the official ones.

        Raises:
            UnknownName: there is no such part.
        """
        official = {**PARTS, "test": _official.RANDOM, **{name: name for name in PARTS.values()}}
        for name in parts:
            if name not in official:
                raise UnknownName("part", name, official)
        named = {official[name]: examples for name, examples in parts.items() if len(examples)}
        return _check_result(_official.check(_official.of_parts(named)))

    def disagreements(self, parts: Mapping[str, Examples]) -> list[Disagreement]:
        """Return the examples that are inconsistent, whatever their part."""
        return _official.inconsistent(_official.of_parts(parts))

    def contents(self, path: Path) -> tuple[Mapping[str, Examples], list[Disagreement]]:
        """Return the examples of a `dataset.txt`, and those that are inconsistent."""
        dataset = gscan_json.examine(path)
        return dataset.parts, _official.inconsistent(dataset)

    def examine(self, path: Path) -> CheckResult:
        """Return the wrong examples of a `dataset.txt`; see `check`."""
        return _check_result(_official.examine(path))

    def accepted(self, examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
        """Return where a prediction executes the command, on any path."""
        return executed_rows(examples, predictions)

    def build(self, data: Kind) -> Split:
        """Return the data of these options."""
        if data.official is not None:
            return self._official(data, data.official)
        return cached(self.name, data, lambda: self._generated(data))

    def _generated(self, data: Kind) -> Split:
        table = generate_all(data)
        remaining, shots, tests = self.assign(table, data)
        train, validation, unseen = _draw_parts(remaining, data, self.name)
        train = np.sort(np.concatenate([train, shots]))
        require(len(train) > 0, "the fractions leave nothing to train on")
        require(len(validation) > 0, "the validation fraction leaves the validation set empty")
        ids, learned = table.duplicate_ids, np.concatenate([train, validation])
        test_a = {"A": unseen[~np.isin(ids[unseen], ids[learned])]}
        rows = test_a | self.filter_tests(tests, table.actions.lengths, train, data)
        test = np.concatenate(list(rows.values()))
        return Split.of(
            train=table.take(train).examples,
            validation=table.take(validation).examples,
            test=table.take(test).examples,
            task=self.name,
            rule=self.describe(data),
            seed=data.seed,
            options=data.options,
            tests={name: len(each) for name, each in rows.items()},
        )

    def _official(self, data: Kind, official: Path) -> Split:
        usual = type(data)()
        stated = {name: getattr(usual, name) for name in self.options_in_file}
        other = replace(data, official=None, workers=1, **stated)
        plain = f"{self.name} takes --official without other choices: the file has made them"
        require(other == usual, plain)
        dataset = _official.load(official, list(self.official_parts.values()), self.name)
        options = self.options_from_header(dataset)
        for name in self.options_in_file:
            # The default is no choice of the user.
            chosen, actual = getattr(data, name), options[name]
            message = f"{official} has {name} {actual}, not {chosen}"
            require(chosen in (getattr(usual, name), actual), message)
        parts = {name: dataset.parts[each] for name, each in self.official_parts.items()}
        train, validation, *tests = parts.values()
        if self.is_as_published({name: len(each) for name, each in parts.items()}, options):
            options = usual.options | options
        return Split.of(
            train=train,
            validation=validation,
            test=Examples.joined(tests),
            task=self.name,
            rule="the parts of the official file",
            seed=data.seed,
            source=f"official files in {official}",
            options=options,
            tests={name: len(parts[name]) for name in list(parts)[2:]},
        )

    def facts(self, examples: Examples) -> dict[str, float]:
        """Return the columns of Table 3."""
        return _statistics.facts(Demonstrations.of(examples))

    def distributions(self, examples: Examples) -> dict[str, dict[str, int]]:
        """Return what the authors plot: examples by verb, manner, target, direction, distance."""
        return _statistics.distributions(Demonstrations.of(examples))

    def options_from_header(self, dataset: Dataset) -> dict[str, Option]:
        """Return the options of an official file, from its header or its examples."""
        header, usual = dataset.header, self.options()
        return {
            "grid": header["grid_size"],
            "kind": header.get("type_grammar", usual.kind),
            "spin": _official.spin(dataset),
            "train_fraction": header.get("percentage_train", usual.train_fraction),
        }

    def is_as_published(self, counts: Mapping[str, int], options: Mapping[str, Option]) -> bool:
        """Whether a file has the published sizes.

        If so, options that the file does not show have their defaults. The size of test A depends
        on a draw and does not count.
        """
        sizes = self.sizes_with(options)
        tests = {name: count for name, count in counts.items() if name not in (*LEARNED, "A")}
        published = {name: count for name, count in sizes.tests.items() if name != "A"}
        return tests == published and sum(counts[name] for name in LEARNED) == sizes.train

    def sizes_with(self, options: Mapping[str, Option]) -> Sizes:  # noqa: ARG002 - for those that do
        """Return the published sizes of a set with these options."""
        return self.sizes

    @abstractmethod
    def assign(self, table: Demonstrations, data: Kind) -> tuple[Rows, Rows, Mapping[str, Rows]]:
        """Return the rows of no test, the few-shot rows for train, and each test's rows."""

    def filter_tests(
        self,
        tests: Mapping[str, Rows],
        lengths: NDArray[np.int64],  # noqa: ARG002 - for tests that drop examples
        train: Rows,  # noqa: ARG002
        data: Kind,  # noqa: ARG002
    ) -> dict[str, Rows]:
        """Return the rows of each test without those that train rules out."""
        return dict(tests)

    @staticmethod
    @abstractmethod
    def describe(data: Kind) -> str:
        """Return the split in words."""


@final
class Compositional(GscanTask[CompositionalOptions]):
    """Tests A to H: combinations that are not in train."""

    options = CompositionalOptions
    official_parts = LEARNED | {"A": _official.RANDOM} | TESTS
    options_in_file = (*GscanTask.options_in_file, "shots")

    def options_from_header(self, dataset: Dataset) -> dict[str, Option]:
        """Return the options of an official file; its shots are counted."""
        return super().options_from_header(dataset) | {"shots": _official.shots(dataset)}

    def sizes_with(self, options: Mapping[str, Option]) -> Sizes:
        """Return the published sizes; shots move from G to train."""
        more = cast("int", options["shots"]) - self.options().shots
        tests = {**self.sizes.tests, "G": self.sizes.tests["G"] - more}
        return replace(self.sizes, train=self.sizes.train + more, tests=tests)

    def assign(
        self, table: Demonstrations, data: CompositionalOptions
    ) -> tuple[Rows, Rows, Mapping[str, Rows]]:
        """Return the rows without a test, the shots of G, and the rows of B to H."""
        flags = held_out(table)
        times = flags.sum(axis=1)
        rows = {
            letter: np.flatnonzero(flags[:, place] & (times == 1))
            for place, letter in enumerate(TESTS)
        }
        many = len(rows["G"])
        # The default of one shot is allowed where no command has a manner.
        require(data.shots <= max(many, 1), f"shots must be at most {many}, not {data.shots}")
        shots = stream(data.seed, f"{self.name}/shots").permutation(rows["G"])[: data.shots]
        rows["G"] = np.setdiff1d(rows["G"], shots)
        return np.flatnonzero(times == 0), shots, rows

    def filter_tests(
        self,
        tests: Mapping[str, Rows],
        lengths: NDArray[np.int64],
        train: Rows,
        data: CompositionalOptions,
    ) -> dict[str, Rows]:
        """Return the rows of each test; with `drop_longer`, G and H without longer examples."""
        longest = lengths[train].max() if data.drop_longer else lengths.max()
        short = {name: tests[name][lengths[tests[name]] <= longest] for name in LONGER}
        return dict(tests) | short

    @staticmethod
    def describe(data: CompositionalOptions) -> str:
        """Return the split in words."""
        longer = " without what is longer than anything in train" * data.drop_longer
        shots = f", and {data.shots} of G" * (data.kind == "adverb")
        return (
            f"train: {data.train_fraction:.0%} of what no test holds out{shots}; A: the rest, but"
            " what equals a training example in command, actions and target cell; B: yellow squares"
            " named by colour; C: red squares; D: targets in the south-west; E: circles of size 2"
            " called small; F: pushing squares of size 3; G: cautiously"
            f"{longer}; H: pulling while spinning{longer}; what several of B to H hold out is"
            " dropped"
        )


@final
class Length(GscanTask[LengthOptions]):
    """Test I: longer action sequences than any in train."""

    options = LengthOptions
    official_parts = LEARNED | {"A": _official.RANDOM, "I": _official.LONG}
    options_in_file = (*GscanTask.options_in_file, "max_length")

    def options_from_header(self, dataset: Dataset) -> dict[str, Option]:
        """Return the options of an official file; its maximum length is measured."""
        longest = _official.longest(dataset, self.options().max_length)
        return super().options_from_header(dataset) | {"max_length": longest}

    def assign(
        self, table: Demonstrations, data: LengthOptions
    ) -> tuple[Rows, Rows, Mapping[str, Rows]]:
        """Return the short rows, no shots, and the long rows as test I."""
        long = table.actions.lengths > data.max_length
        return np.flatnonzero(~long), np.zeros(0, np.int64), {"I": np.flatnonzero(long)}

    @staticmethod
    def describe(data: LengthOptions) -> str:
        """Return the split in words."""
        return (
            f"train: {data.train_fraction:.0%} of up to {data.max_length} actions; A: the"
            " rest, but what equals a training example in command, actions and target cell; I:"
            " what takes more"
        )


def _check_result(examined: _official.Examined) -> CheckResult:
    dataset, wrong, kind = examined
    few = _official.shots(dataset) if kind.kind == "generalization" else 0
    return CheckResult(
        checked_as="gscan",
        parts={name: dataset.counts[name] for name in dataset.parts},
        wrong=wrong,
        counts={
            "shots": Count(few, "shots"),
            "duplicates": Count(_official.repeated(dataset), "duplicates"),
        },
        kind=kind.kind,
        note=f"taken for {kind}",
    )


def _draw_parts(rows: Rows, data: GscanOptions, name: str) -> tuple[Rows, Rows, Rows]:
    """Return train, validation and the rest, sorted."""
    order = stream(data.seed, f"{name}/split").permutation(rows)
    learned = round(data.train_fraction * len(rows))
    held_back = round(data.validation_fraction * learned)
    train, validation, rest = np.split(order, [learned - held_back, learned])
    return np.sort(train), np.sort(validation), np.sort(rest)


_COUNTS = {
    "A": 19_282,
    "B": 18_718,
    "C": 37_436,
    "D": 88_642,
    "E": 16_808,
    "F": 11_460,
    "G": 112_880,
    "H": 38_582,
}
_TASKS: tuple[Task[Any], ...] = (
    Compositional(
        name="gscan/compositional",
        family="gscan/compositional",
        summary="commands grounded in a world, in combinations that are not in train",
        paper=RUIS,
        rule=Compositional.describe(CompositionalOptions()),
        sizes=Sizes(train=371_649, test=sum(_COUNTS.values()), tests=_COUNTS),
        metrics=("exact", "executes"),
    ),
    Length(
        name="gscan/length",
        family="gscan/length",
        summary="commands grounded in a world, with more actions than any in train",
        paper=RUIS,
        rule=Length.describe(LengthOptions()),
        sizes=Sizes(train=182_122, test=37_784 + 198_588, tests={"A": 37_784, "I": 198_588}),
        metrics=("exact", "executes"),
    ),
)
SPLITS = {task.name: task for task in _TASKS}
FILES = own_files(
    SPLITS["gscan/compositional"],
    "gscan/files",
    summary="your own commands, worlds and actions, checked by the rules",
)
TASKS: Mapping[str, Task[Any]] = {**SPLITS, FILES.name: FILES}
