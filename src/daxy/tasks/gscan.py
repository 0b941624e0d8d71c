"""gSCAN: commands that mean what they mean in a grid world (Ruis et al. 2020).

Every command is shown in every situation of everything that it can speak of. Of that, each test
holds out what its predicate says; an example that several hold out is dropped.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar, cast, final

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import UnknownName, require
from daxy.core.examples import Example, Examples, Sequences
from daxy.core.random import stream
from daxy.core.split import Option, Sizes, Split
from daxy.formats._gscan_writing import PARTS
from daxy.formats.gscan_json import Dataset
from daxy.languages import Language, gscan
from daxy.languages.scan import turn_names
from daxy.tasks import _gscan_official as _official
from daxy.tasks import _gscan_statistics as _statistics
from daxy.tasks._cached import cached
from daxy.tasks._checked import Checked, Count
from daxy.tasks._gscan_options import CompositionalOptions, GscanOptions, LengthOptions
from daxy.tasks._gscan_examples import Demonstrations, generate_all
from daxy.tasks._gscan_predicates import HELD_OUT, held_out
from daxy.tasks._task import Task
from daxy.worlds.executed import executed
from daxy.worlds.grid import LEFT, RIGHT

RUIS = "Ruis et al. 2020, A benchmark for systematic generalization in grounded language"

Rows = NDArray[np.int64]
Kind = TypeVar("Kind", bound=GscanOptions)

LEARNED = {name: PARTS[name] for name in ("train", "validation")}
TESTS = dict(zip("BCDEFGH", HELD_OUT, strict=True))
"""The paper's letters and the official files' names of what is held out."""
LONGER = ("G", "H")
"""Tests that the paper says to hold nothing longer than what is in train."""


@dataclass(frozen=True, kw_only=True)
class GscanTask(Task[Kind], Generic[Kind]):
    """A split of gSCAN, scored by exact match and by what the actions bring about."""

    @property
    def language(self) -> Language[Any]:
        """The language of commands."""
        return gscan.LANGUAGE

    @property
    def own_format(self) -> str:
        """The format of `dataset.txt`."""
        return "gscan-json"

    @property
    def checked_as(self) -> str:
        """What examples are checked as."""
        return "gscan"

    def recognises(self, examples: Sequence[Example]) -> bool:
        """Whether the examples have worlds."""
        return bool(examples) and all(example.world is not None for example in examples)

    def check(self, parts: Mapping[str, Examples]) -> Checked:
        """Return which examples disagree with themselves, the rules or their part.

        Args:
            parts: The examples by daxy's names of parts, or the official ones.

        Raises:
            UnknownName: there is no such part.
        """
        official = {**PARTS, "test": _official.RANDOM, **{name: name for name in PARTS.values()}}
        for name in parts:
            if name not in official:
                raise UnknownName("part", name, official)
        named = {official[name]: examples for name, examples in parts.items() if len(examples)}
        return _checked(_official.check(_official.of_parts(named)))

    def examine(self, path: Path) -> Checked:
        """Return which examples of a `dataset.txt` disagree with themselves, the rules or it."""
        return _checked(_official.examine(path))

    def accepted(self, examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
        """Return where a prediction does what the command says, on any path."""
        return executed(examples, predictions)

    @property
    def aliases(self) -> Mapping[str, str]:
        """Other names of turns."""
        turns = {LEFT: "left", RIGHT: "right"}
        return {name: turn for turn, way in turns.items() for name in turn_names(way)}

    def made(self, data: Kind) -> Split:
        """Return the data of this task; see `Task.split`."""
        if data.official is not None:
            return self._official(data, data.official)
        return cached(self.name, data, lambda: self._generated(data))

    def _generated(self, data: Kind) -> Split:
        """Return the data of this task, made anew."""
        shown = generate_all(data)
        known, shots, tests = self.assign(shown, data)
        train, validation, unseen = _drawn(known, data, self.name)
        train = np.sort(np.concatenate([train, shots]))
        require(len(train) > 0, "the fractions leave nothing to train on")
        require(len(validation) > 0, "the validation fraction leaves the validation set empty")
        taught = np.concatenate([train, validation])
        first = {"A": unseen[~np.isin(shown.alike[unseen], shown.alike[taught])]}
        rows = first | self.filter_tests(tests, shown.actions.lengths, train, data)
        test = np.concatenate(list(rows.values()))
        return Split.of(
            train=shown.take(train).examples,
            validation=shown.take(validation).examples,
            test=shown.take(test).examples,
            task=self.name,
            rule=self.describe(data),
            seed=data.seed,
            options=data.options,
            tests={name: len(each) for name, each in rows.items()},
        )

    def _official(self, data: Kind, official: Path) -> Split:
        """Return the data of an official file."""
        usual = type(data)()
        open_to_files = {name: getattr(usual, name) for name in self.options_in_file}
        chosen = replace(data, official=None, workers=1, **open_to_files)
        plain = f"{self.name} takes --official without other choices: the file has made them"
        require(chosen == usual, plain)
        dataset = _official.load(official, list(self.official_parts.values()), self.name)
        options = self.options_from_header(dataset)
        for name in self.options_in_file:
            # What is as usual may not have been chosen.
            given, found = getattr(data, name), options[name]
            other = f"{official} has {name} {found}, not {given}"
            require(given in (getattr(usual, name), found), other)
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

    @property
    def options_in_file(self) -> tuple[str, ...]:
        """The choices that an official file tells."""
        return ("grid", "kind", "spin", "train_fraction")

    def options_from_header(self, dataset: Dataset) -> dict[str, Option]:
        """Return the choices that an official file says, or shows."""
        header, usual = dataset.header, self.options()
        return {
            "grid": header["grid_size"],
            "kind": header.get("type_grammar", usual.kind),
            "spin": _official.spin(dataset),
            "train_fraction": header.get("percentage_train", usual.train_fraction),
        }

    def is_as_published(self, counts: Mapping[str, int], options: Mapping[str, Option]) -> bool:
        """Whether a file with so many examples of each part can be a published one.

        If it is, choices that it neither says nor shows are as usual. Test A is what a draw leaves,
        and of no certain size.
        """
        sizes = self.sizes_with(options)
        found = {name: count for name, count in counts.items() if name not in (*LEARNED, "A")}
        theirs = {name: count for name, count in sizes.tests.items() if name != "A"}
        taught = sum(counts[name] for name in LEARNED)
        return found == theirs and taught == sizes.train

    def sizes_with(self, options: Mapping[str, Option]) -> Sizes:  # noqa: ARG002 - for those that do
        """Return the published sizes of a set with these choices."""
        return self.sizes

    @property
    @abstractmethod
    def official_parts(self) -> Mapping[str, str]:
        """The official names of the parts, by ours: train, validation, and each test."""

    @abstractmethod
    def assign(self, shown: Demonstrations, data: Kind) -> tuple[Rows, Rows, Mapping[str, Rows]]:
        """Return what no test holds out, what of a test is in train, and what tests hold out."""

    def filter_tests(
        self,
        tests: Mapping[str, Rows],
        lengths: NDArray[np.int64],  # noqa: ARG002 - for those that leave something out
        train: Rows,  # noqa: ARG002
        data: Kind,  # noqa: ARG002
    ) -> dict[str, Rows]:
        """Return what is left of what tests hold out, given what is in train."""
        return dict(tests)

    @staticmethod
    @abstractmethod
    def describe(data: Kind) -> str:
        """Return in words what is in which part."""


@final
class Compositional(GscanTask[CompositionalOptions]):
    """Tests A to H, of what is never seen together in train."""

    @property
    def options(self) -> type[CompositionalOptions]:
        """What users can choose of its data."""
        return CompositionalOptions

    @property
    def official_parts(self) -> Mapping[str, str]:
        """The official names of the parts."""
        return LEARNED | {"A": _official.RANDOM} | TESTS

    @property
    def options_in_file(self) -> tuple[str, ...]:
        """The choices that an official file tells."""
        return (*super().options_in_file, "shots")

    def options_from_header(self, dataset: Dataset) -> dict[str, Option]:
        """Return the choices that an official file says; its shots are counted."""
        return super().options_from_header(dataset) | {"shots": _official.shots(dataset)}

    def sizes_with(self, options: Mapping[str, Option]) -> Sizes:
        """Return the published sizes of a set with so many shots: what train has, G lacks."""
        more = cast("int", options["shots"]) - self.options().shots
        tests = {**self.sizes.tests, "G": self.sizes.tests["G"] - more}
        return replace(self.sizes, train=self.sizes.train + more, tests=tests)

    def assign(
        self, shown: Demonstrations, data: CompositionalOptions
    ) -> tuple[Rows, Rows, Mapping[str, Rows]]:
        """Return what no test holds out, the shots of G, and what B to H hold out."""
        flags = held_out(shown)
        times = flags.sum(axis=1)
        known = np.flatnonzero(times == 0)
        rows = {
            letter: np.flatnonzero(flags[:, place] & (times == 1))
            for place, letter in enumerate(TESTS)
        }
        many = len(rows["G"])
        # The one that is there unless something is chosen is none where nothing has a manner.
        require(data.shots <= max(many, 1), f"shots must be at most {many}, not {data.shots}")
        shots = stream(data.seed, f"{self.name}/shots").permutation(rows["G"])[: data.shots]
        rows["G"] = np.setdiff1d(rows["G"], shots)
        return known, shots, rows

    def filter_tests(
        self,
        tests: Mapping[str, Rows],
        lengths: NDArray[np.int64],
        train: Rows,
        data: CompositionalOptions,
    ) -> dict[str, Rows]:
        """Return what is left of what tests hold out, given what is in train."""
        longest = lengths[train].max() if data.drop_longer else lengths.max()
        short = {name: tests[name][lengths[tests[name]] <= longest] for name in LONGER}
        return dict(tests) | short

    @staticmethod
    def describe(data: CompositionalOptions) -> str:
        """Return in words what is in which part."""
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
    """Test I, of longer action sequences than any in train."""

    @property
    def options(self) -> type[LengthOptions]:
        """What users can choose of its data."""
        return LengthOptions

    @property
    def official_parts(self) -> Mapping[str, str]:
        """The official names of the parts."""
        return LEARNED | {"A": _official.RANDOM, "I": _official.LONG}

    @property
    def options_in_file(self) -> tuple[str, ...]:
        """The choices that an official file tells."""
        return (*super().options_in_file, "max_length")

    def options_from_header(self, dataset: Dataset) -> dict[str, Option]:
        """Return the choices that an official file says; how long train is, is seen."""
        seen = _official.longest(dataset, self.options().max_length)
        return super().options_from_header(dataset) | {"max_length": seen}

    def assign(self, shown: Demonstrations, data: LengthOptions) -> tuple[Rows, Rows, Mapping[str, Rows]]:
        """Return what is short enough for train, nothing, and the rest."""
        long = shown.actions.lengths > data.max_length
        return np.flatnonzero(~long), np.zeros(0, np.int64), {"I": np.flatnonzero(long)}

    @staticmethod
    def describe(data: LengthOptions) -> str:
        """Return in words what is in which part."""
        return (
            f"train: {data.train_fraction:.0%} of up to {data.max_length} actions; A: the"
            " rest, but what equals a training example in command, actions and target cell; I:"
            " what takes more"
        )


def _checked(examined: _official.Examined) -> Checked:
    """Return the answer of `daxy verify` on examples with worlds."""
    dataset, wrong, taken = examined
    few = _official.shots(dataset) if taken.kind == "generalization" else 0
    return Checked(
        checked_as="gscan",
        parts={name: dataset.counts[name] for name in dataset.parts},
        wrong=wrong,
        counts={
            "shots": Count(few, "shots"),
            "duplicates": Count(_official.repeated(dataset), "duplicates"),
        },
        kind=taken.kind,
        note=f"taken for {taken}",
    )


def _drawn(known: Rows, data: GscanOptions, name: str) -> tuple[Rows, Rows, Rows]:
    """Return train, validation, and what is left, each in the order in which it was made."""
    order = stream(data.seed, f"{name}/split").permutation(known)
    taught = round(data.train_fraction * len(known))
    chosen = round(data.validation_fraction * taught)
    train, validation, rest = np.split(order, [taught - chosen, taught])
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
TASKS = {task.name: task for task in _TASKS}
