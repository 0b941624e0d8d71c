"""Options of the data of the transduction suite."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Literal

from daxy.core.errors import quote, require
from daxy.core.settings import check_positive
from daxy.core.vocabulary import RESERVED
from daxy.languages import itg
from daxy.languages.itg import Grammar
from daxy.tasks._dataset_options import DatasetOptions

LONGEST = 1 << 16
"""Maximum tokens of a source."""
LONGEST_DERIVED = 1 << 12
"""Maximum tokens of a derived source: tables of shares take its square for each distinct sequence
of children that rules end with."""
MOST = 100_000_000
"""Maximum number of pairs in one call."""
MOST_TOKENS = 1 << 31
"""Maximum tokens of sources of the maximum length: 36 gigabytes, about half for varied lengths."""
SHARD = re.compile(r"([1-9]\d*)/([1-9]\d*)")


@dataclass(frozen=True, kw_only=True)
class TransductionOptions(DatasetOptions):
    """Numbers of pairs and their lengths, by default the paper's."""

    most: ClassVar[int] = LONGEST
    """Maximum tokens of a source."""

    train_pairs: int = 20_000
    """Pairs in train: the first of an unlimited stream. Online training reads the stream itself."""
    shard: str = "1/1"
    """Make one of several equal parts of train, as 3/10; a part is the same on every machine."""
    validation_pairs: int = 1_000
    """Pairs in validation: others of training lengths."""
    test_pairs: int = 1_000
    """Pairs in test."""
    min_length: int = 8
    """Minimum source tokens of a training pair."""
    max_length: int = 64
    """Maximum source tokens of a training pair."""
    test_min_length: int = 65
    """Minimum source tokens of a test pair."""
    test_max_length: int = 128
    """Maximum source tokens of a test pair."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "train_pairs", "validation_pairs", "test_pairs")
        for name in ("max_length", "test_max_length"):
            flag, length, most = name.replace("_", "-"), getattr(self, name), self.most
            require(length <= most, f"{flag} must be at most {most:,}, not {length:,}")
        for part, low, high in (
            ("", self.min_length, self.max_length),
            ("test-", self.test_min_length, self.test_max_length),
        ):
            bounds = f"{part}min-length must be from 1 to {part}max-length ({high}), not {low}"
            require(0 < low <= high, bounds)
        place = SHARD.fullmatch(self.shard)
        fits = place is not None and int(place[1]) <= int(place[2]) <= self.train_pairs
        form = f"shard must say which of how many, as 3/10, of up to {self.train_pairs} pairs"
        require(fits, f"{form}, not {quote(self.shard)}")
        for name, count, length in (
            ("train-pairs", self.train_pairs // int(self.shard.partition("/")[2]), self.max_length),
            ("validation-pairs", self.validation_pairs, self.max_length),
            ("test-pairs", self.test_pairs, self.test_max_length),
        ):
            most = min(MOST, MOST_TOKENS // length)
            many = f"{name} must be at most {most:,} at a time, with sources of up to {length:,}"
            hint = "; --shard 1/N makes a part of them" if name == "train-pairs" else ""
            require(count <= most, f"{many} tokens, not {count:,}{hint}")

    @property
    def rows(self) -> range:
        """Numbers of the training pairs in the stream."""
        number, count = map(int, self.shard.split("/"))
        return range(self.train_pairs * (number - 1) // count, self.train_pairs * number // count)


@dataclass(frozen=True, kw_only=True)
class SymbolOptions(TransductionOptions):
    """Pairs of sequences of symbols."""

    symbols: int = 128
    """Number of symbols."""

    def __post_init__(self) -> None:
        super().__post_init__()
        most = (1 << 16) - RESERVED
        require(0 < self.symbols <= most, f"symbols must be from 1 to {most:,}, not {self.symbols}")


@dataclass(frozen=True, kw_only=True)
class GrammarOptions(TransductionOptions):
    """Pairs that a grammar derives."""

    most: ClassVar[int] = LONGEST_DERIVED

    lengths: Literal["grammar", "uniform"] = "grammar"
    """Distribution of lengths in the range: as in the grammar (the paper's), or uniform."""


@dataclass(frozen=True, kw_only=True)
class GrammarFileOptions(GrammarOptions):
    """Pairs that the grammar of a file derives."""

    grammar: Path | str | None = None
    """File with a grammar, in the notation of `daxy.languages.itg`; in Python also the text of its
    rules."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grammar is None:
            return
        form = "grammar must be the Path of a file or a grammar's text, with `->` in each rule"
        named = isinstance(self.grammar, Path)
        require(named or "->" in str(self.grammar), f"{form}, not {quote(self.grammar)}")
        rules = itg.load(self.grammar) if isinstance(self.grammar, Path) else _read(self.grammar)
        # The canonical text of a grammar names a run.
        object.__setattr__(self, "grammar", "\n".join(map(str, rules.rules)))

    @property
    def rules(self) -> Grammar | None:
        """The grammar, if there is one."""
        return None if self.grammar is None else _read(str(self.grammar))


@lru_cache(maxsize=8)
def _read(text: str) -> Grammar:
    """Return the grammar of a text, cached because options have only their fields."""
    return itg.read(text, "the grammar")
