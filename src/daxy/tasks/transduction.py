"""The transduction suite of Grefenstette et al. (2015): endless pairs, tested at greater lengths.

Train is the beginning of a stream that never ends; the validation set and the test are streams of
their own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, final

import numpy as np

from daxy import languages
from daxy.core.errors import WrongRequest, require
from daxy.core.examples import Tokens
from daxy.core.split import Sizes, Split
from daxy.languages import Language, itg
from daxy.languages.itg import Grammar
from daxy.tasks._streams import BigramFlip, Copy, Derived, Maker, Moved, Reverse, Stream
from daxy.tasks._task import Task
from daxy.tasks._transduction_options import GrammarFileOptions, GrammarOptions, SymbolOptions, TransductionOptions
from daxy.worlds.grid import World

PAPER = "Grefenstette et al. 2015, Learning to transduce with unbounded memory"
METRICS = ("exact", "fine")
PLAIN = TransductionOptions()

Kind = TypeVar("Kind", bound=TransductionOptions)


@dataclass(frozen=True, kw_only=True)
class TransductionTask(Task[Kind], Generic[Kind]):
    """Pairs of sequences; those of the test are longer than those of train."""

    @property
    def published(self) -> bool:
        """Whether its sizes are published: streams have none."""
        return False

    @property
    def is_stream(self) -> bool:
        """Whether there are always more examples to train on."""
        return True

    def build(self, data: Kind) -> Split:
        """Return the data of this task; see `Task.split`."""
        none = f"{self.name} has no official files; leave out --official"
        require(data.official is None, none)
        learned = self.maker(data, data.min_length, data.max_length)
        asked = self.maker(data, data.test_min_length, data.test_max_length)

        def stream(part: str, maker: Maker) -> Stream:
            return Stream(maker, data.seed, f"{self.name}/{part}")

        train = stream("train", learned)
        return Split.of(
            train=train.pairs(data.rows),
            validation=stream("validation", learned).pairs(range(data.validation_pairs)),
            test=stream("test", asked).pairs(range(data.test_pairs)),
            stream=train,
            task=self.name,
            rule=f"{_rule(data)}{self.known(data)}",
            seed=data.seed,
            options=data.options,
        )

    def known(self, data: Kind) -> str:  # noqa: ARG002 - for those that have more to say
        """Return what is known of a stream beside its lengths, in words."""
        return ""

    def statistics(self, split: Split) -> dict[str, float]:
        """Return the share of test sources that occur in train, if lengths make that possible."""
        shared = np.isin(split.train.source.lengths, split.test.source.lengths)
        if not shared.any():
            return {}
        asked = split.test.source
        seen = {*asked}.intersection(split.train.source.take(np.flatnonzero(shared)))
        known = np.fromiter((source in seen for source in asked), np.bool_)
        return {"share of test sources that occur in train": float(known.mean())}

    @abstractmethod
    def maker(self, data: Kind, shortest: int, longest: int) -> Maker:
        """Return what makes pairs whose sources have lengths in a range."""


@final
@dataclass(frozen=True, kw_only=True)
class SymbolTask(TransductionTask[SymbolOptions]):
    """Pairs of which the target is the source in another order."""

    kind: type[Moved]

    @property
    def options(self) -> type[SymbolOptions]:
        """What users can choose of its data."""
        return SymbolOptions

    def maker(self, data: SymbolOptions, shortest: int, longest: int) -> Maker:
        """Return what makes pairs whose sources have lengths in a range."""
        return self.kind(data.symbols, shortest, longest)

    def meaning(self, source: Tokens, world: World | None = None) -> Tokens:
        """Return the source in the order of this task; see `Task.meaning`."""
        del world
        length = len(source)
        maker = self.kind(SymbolOptions().symbols, 1, max(length, 2))
        possible = f"a source of {length} tokens; expected one of another length"
        require(length in maker.possible(), possible)
        order = maker.order(np.arange(length), np.full(length, length))
        return tuple(source[place] for place in order)


DerivedKind = TypeVar("DerivedKind", bound=GrammarOptions)


@dataclass(frozen=True, kw_only=True)
class DerivedTask(TransductionTask[DerivedKind], Generic[DerivedKind]):
    """Pairs that a grammar derives."""

    def maker(self, data: DerivedKind, shortest: int, longest: int) -> Maker:
        """Return what makes pairs whose sources have lengths in a range."""
        return Derived(self.rules(data), shortest, longest, data.lengths == "uniform")

    def known(self, data: DerivedKind) -> str:
        """Return how long sentences of the grammar are, in words."""
        return _mean(self.rules(data))

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

    @property
    def options(self) -> type[GrammarOptions]:
        """What users can choose of its data."""
        return GrammarOptions

    def rules(self, data: GrammarOptions) -> Grammar:
        """Return daxy's grammar of this task."""
        del data
        return itg.grammar(self.grammar)

    @property
    def language(self) -> Language[Any]:
        """The language of the grammar."""
        return languages.get(self.grammar)

    def disagreement(self, source: Tokens, target: Tokens) -> str | None:
        """Return why no derivation is of a pair; see `Task.disagreement`."""
        try:
            itg.parse(itg.grammar(self.grammar), source, target)
        except WrongRequest as error:
            return str(error)
        return None


@final
@dataclass(frozen=True, kw_only=True)
class FileTask(DerivedTask[GrammarFileOptions]):
    """Pairs of the grammar of a file."""

    @property
    def options(self) -> type[GrammarFileOptions]:
        """What users can choose of its data."""
        return GrammarFileOptions

    def rules(self, data: GrammarFileOptions) -> Grammar:
        """Return the grammar of the file; see `DerivedTask.rules`."""
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
        yield SymbolTask(**_said(name, summary), kind=kind)
    derived = {
        "svo_sov": "the verb to the end, after relative clauses",
        "gender": "articles that wait for their noun",
    }
    for name, summary in derived.items():
        yield GrammarTask(**_said(name, summary), grammar=name)
    yield FileTask(**_said("grammar", "pairs that a grammar of yours derives (--grammar FILE)"))


def _said(name: str, summary: str) -> dict[str, Any]:
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


def _mean(grammar: Grammar) -> str:
    mean = grammar.expected_length
    said = f"{mean:,.1f}" if mean < float("inf") else "infinitely many"
    return f"; a source has {said} tokens in the mean of all derivations"


TASKS = {task.name: task for task in _tasks()}
