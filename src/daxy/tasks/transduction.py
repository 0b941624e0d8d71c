"""The transduction suite of Grefenstette et al. (2015): unlimited pairs, longer in the test.

Train is the beginning of an unlimited stream; validation and test are streams of their own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, final

import numpy as np

from daxy import languages
from daxy.core.errors import WrongRequest, require
from daxy.core.examples import Tokens
from daxy.core.split import Sizes, Split
from daxy.languages import Language, itg
from daxy.languages.itg import Grammar
from daxy.tasks._own_files import OwnFilesTask, own_files
from daxy.tasks._streams import (
    BigramFlip,
    Copy,
    Derivations,
    PairGenerator,
    Permutation,
    Reverse,
    Stream,
)
from daxy.tasks._task import Task
from daxy.tasks._transduction_options import (
    GrammarFileOptions,
    GrammarOptions,
    SymbolOptions,
    TransductionOptions,
)
from daxy.worlds.world import World

PAPER = "Grefenstette et al. 2015, Learning to transduce with unbounded memory"
METRICS = ("exact", "fine")
PLAIN = TransductionOptions()

Kind = TypeVar("Kind", bound=TransductionOptions)


@dataclass(frozen=True, kw_only=True)
class TransductionTask(Task[Kind], Generic[Kind]):
    """Pairs of sequences, longer in test than in train."""

    published = False
    is_stream = True

    def build(self, data: Kind) -> Split:
        """Return the data of these options."""
        none = f"{self.name} has no official files; leave out --official"
        require(data.official is None, none)
        short = self.generator(data, data.min_length, data.max_length)
        long = self.generator(data, data.test_min_length, data.test_max_length)

        def stream(part: str, generator: PairGenerator) -> Stream:
            return Stream(generator, data.seed, f"{self.name}/{part}")

        train = stream("train", short)
        return Split.of(
            train=train.pairs(data.rows),
            validation=stream("validation", short).pairs(range(data.validation_pairs)),
            test=stream("test", long).pairs(range(data.test_pairs)),
            stream=train,
            task=self.name,
            rule=f"{_rule(data)}{self.describe_lengths(data)}",
            seed=data.seed,
            options=data.options,
        )

    def describe_lengths(self, data: Kind) -> str:  # noqa: ARG002 - for grammars
        """Return in words the mean length of sources, where it is known."""
        return ""

    def statistics(self, split: Split) -> dict[str, float]:
        """Return the share of test sources that occur in train, if their lengths overlap."""
        shared = np.isin(split.train.source.lengths, split.test.source.lengths)
        if not shared.any():
            return {}
        sources = split.test.source
        seen = {*sources}.intersection(split.train.source.take(np.flatnonzero(shared)))
        known = np.fromiter((source in seen for source in sources), np.bool_)
        return {"share of test sources that occur in train": float(known.mean())}

    @abstractmethod
    def generator(self, data: Kind, shortest: int, longest: int) -> PairGenerator:
        """Return the generator of pairs whose sources have lengths in a range."""


@final
@dataclass(frozen=True, kw_only=True)
class SymbolTask(TransductionTask[SymbolOptions]):
    """Pairs whose target is the source in another order."""

    kind: type[Permutation]

    options = SymbolOptions

    def generator(self, data: SymbolOptions, shortest: int, longest: int) -> PairGenerator:
        """Return the generator of pairs whose sources have lengths in a range."""
        return self.kind(data.symbols, shortest, longest)

    def meaning(self, source: Tokens, world: World | None = None) -> Tokens:
        """Return the source in the order of this task."""
        del world
        length = len(source)
        generator = self.kind(SymbolOptions().symbols, 1, max(length, 2))
        possible = f"a source of {length} tokens; expected one of another length"
        require(length in generator.possible(), possible)
        order = generator.order(np.arange(length), np.full(length, length))
        return tuple(source[place] for place in order)


DerivedKind = TypeVar("DerivedKind", bound=GrammarOptions)


@dataclass(frozen=True, kw_only=True)
class DerivedTask(TransductionTask[DerivedKind], Generic[DerivedKind]):
    """Pairs that a grammar derives."""

    def generator(self, data: DerivedKind, shortest: int, longest: int) -> PairGenerator:
        """Return the generator of pairs whose sources have lengths in a range."""
        return Derivations(self.rules(data), shortest, longest, data.lengths == "uniform")

    def describe_lengths(self, data: DerivedKind) -> str:
        """Return in words the mean length of sources."""
        mean = self.rules(data).expected_length
        count = f"{mean:,.1f}" if mean < float("inf") else "infinitely many"
        return f"; a source has {count} tokens in the mean of all derivations"

    @abstractmethod
    def rules(self, data: DerivedKind) -> Grammar:
        """Return the grammar that derives the pairs.

        Raises:
            WrongRequest: none is given.
        """


@final
@dataclass(frozen=True, kw_only=True)
class GrammarTask(DerivedTask[GrammarOptions]):
    """Pairs of one of daxy's grammars."""

    grammar: str

    options = GrammarOptions

    def rules(self, data: GrammarOptions) -> Grammar:
        """Return daxy's grammar of this task."""
        del data
        return itg.grammar(self.grammar)

    @property
    def language(self) -> Language[Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The language of the grammar."""
        return languages.get(self.grammar)

    def disagreement(self, source: Tokens, target: Tokens) -> str | None:
        """Return the error in a pair without a derivation."""
        try:
            itg.parse(itg.grammar(self.grammar), source, target)
        except WrongRequest as error:
            return str(error)
        return None


@final
@dataclass(frozen=True, kw_only=True)
class FileTask(DerivedTask[GrammarFileOptions]):
    """Pairs of the grammar of a file."""

    options = GrammarFileOptions

    def rules(self, data: GrammarFileOptions) -> Grammar:
        """Return the grammar of the file."""
        if data.rules is None:
            raise WrongRequest(f"{self.name} is of a grammar of yours; expected --grammar FILE")
        return data.rules


def _tasks() -> Iterator[TransductionTask[Any]]:
    about = {
        "copy": (Copy, "a sequence again"),
        "reverse": (Reverse, "a sequence from its end"),
        "bigram_flip": (
            BigramFlip,
            "a sequence of even length with each two symbols the other way round",
        ),
    }
    for name, (kind, summary) in about.items():
        yield SymbolTask(**_arguments(name, summary), kind=kind)
    derived = {
        "svo_sov": "the verb to the end, after relative clauses",
        "gender": "articles that wait for their noun",
    }
    for name, summary in derived.items():
        yield GrammarTask(**_arguments(name, summary), grammar=name)
    yours = "pairs that a grammar of yours derives (--grammar FILE)"
    yield FileTask(**_arguments("grammar", yours))


def _arguments(name: str, summary: str) -> dict[str, Any]:
    return {
        "name": f"transduction/{name}",
        "family": f"transduction/{name}",
        "summary": summary,
        "paper": PAPER,
        "rule": _rule(PLAIN),
        "sizes": Sizes(
            train=PLAIN.train_pairs, validation=PLAIN.validation_pairs, test=PLAIN.test_pairs
        ),
        "metrics": METRICS,
    }


def _rule(data: TransductionOptions) -> str:
    learned = f"sources of {data.min_length} to {data.max_length} tokens in train"
    return f"a stream: {learned}, of {data.test_min_length} to {data.test_max_length} in the test"


def _files() -> Iterator[OwnFilesTask]:
    """Yield the tasks of a user's own pairs, one for each kind that daxy knows the rules of."""
    known = [name for name, task in SPLITS.items() if not isinstance(task, FileTask)]
    kinds = ",".join(name.removeprefix("transduction/") for name in known)
    for name in known:
        yield own_files(
            SPLITS[name],
            f"{name}_files",
            family=f"transduction/{{{kinds}}}_files",
            summary="your own pairs, checked by the rules of the task",
        )


SPLITS = {task.name: task for task in _tasks()}
TASKS: Mapping[str, Task[Any]] = {**SPLITS, **{task.name: task for task in _files()}}
