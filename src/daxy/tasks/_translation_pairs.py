"""Sentences and their translations, drawn from a grammar or read from a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import log
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import WrongFile, quote, require
from daxy.core.examples import Tokens
from daxy.core.random import stream
from daxy.formats import tatoeba
from daxy.languages import copular, spelling
from daxy.languages.copular import SUBJECTS, Clause, Predicate

Pair = tuple[Tokens, Tokens]
"""An English sentence and its translation."""
Pairs = Sequence[Pair]

DRAWN = 11_182
"""Number of drawn pairs: the size of the released selection."""
OFTEN = {"i": 4.0, "you": 3.0, "he": 2.0, "she": 1.0, "we": 1.5, "they": 1.0}
"""Relative frequencies of subjects, and below of negation, `very` and contractions, about as in
Tatoeba."""
NEGATED, VERY, CONTRACTED = 0.15, 0.1, 3.0
COMMON = 10
"""Offset of ranks: the predicate of rank r has the frequency 1 / (r + this)."""


def draw_pairs(known: Predicate, longest: int, seed: int, hidden: Pairs) -> list[Pair]:
    """Draw different pairs of the grammar of `daxy.languages.copular` by their frequencies.

    Args:
        known: The most common predicate.
        longest: Maximum words of a sentence.
        seed: Seed of the draw.
        hidden: Pairs whose sentences are left out.

    Raises:
        WrongRequest: no sentence is short enough.
    """
    pairs, predicate_of, logarithms = _weighed()
    draws = stream(seed, "translation/grammar")
    ranks = draws.permutation(len(copular.predicates())) + 1
    ranks[copular.predicates().index(known)] = 0
    # The largest Gumbel-perturbed logarithms are a weighted draw without replacement.
    keys = logarithms - np.log(ranks[predicate_of] + COMMON) + draws.gumbel(size=len(pairs))
    chosen: list[Pair] = []
    for pair in without((pairs[row] for row in np.argsort(-keys).tolist()), hidden):
        if max(map(len, pair)) <= longest:
            chosen.append(pair)
        if len(chosen) == DRAWN:
            break
    require(bool(chosen), f"the grammar has no sentences of up to {longest} words; expected more")
    return chosen


@cache
def _weighed() -> tuple[list[Pair], NDArray[np.int64], NDArray[np.float64]]:
    """Return all pairs of the grammar with their predicates and log frequencies.

    The frequency of the predicate is not included.
    """
    found: dict[Pair, tuple[int, float]] = {}
    many = {who: sum(each.english == who for each in SUBJECTS) for who in OFTEN}
    for number, predicate in enumerate(copular.predicates()):
        for clause in copular.clauses(predicate):
            weight = _weight(clause) / many[clause.subject.english]
            (french,) = clause.sentences("french")
            for english in clause.sentences("english"):
                full = english[1] in ("am", "are", "is")
                added = weight * (1.0 if full else CONTRACTED)
                before = found.get((english, french), (number, 0.0))
                found[english, french] = number, before[1] + added
    numbers, weights = zip(*found.values(), strict=True)
    return list(found), np.array(numbers), np.array(list(map(log, weights)))


def _weight(clause: Clause) -> float:
    """Return the frequency of a clause, regardless of its predicate."""
    often = OFTEN[clause.subject.english]
    often *= NEGATED if clause.is_negated else 1
    return often * (VERY if clause.is_very else 1)


def without(pairs: Iterable[Pair], hidden: Pairs) -> Iterator[Pair]:
    """Yield the pairs that share no sentence with hidden ones."""
    english, french = ({pair[side] for pair in hidden} for side in (0, 1))
    for pair in pairs:
        if pair[0] not in english and pair[1] not in french:
            yield pair


def of_file(path: Path, prefixes: Sequence[str], longest: int) -> list[Pair]:
    """Return the pairs of a Tatoeba file that pass the tutorial's filter.

    Args:
        path: The file.
        prefixes: Beginnings of English sentences.
        longest: Maximum words of a sentence.

    Raises:
        WrongFile: a line is wrong or has no French word, or no pair passes.
    """
    found, passed = list[Pair](), False
    for line in tatoeba.read(path):
        english, french = spelling.words(line.english), spelling.words(line.french)
        if not " ".join(english).startswith(tuple(prefixes)):
            continue
        if not any(word.isalpha() for word in french):
            problem = f"no word of a to z in the French sentence {quote(line.french)}"
            raise WrongFile(path, problem, line=line.number)
        passed = True
        if max(len(english), len(french)) <= longest:
            found.append((english, french))
    if passed and not found:
        raise WrongFile(path, f"no pair of up to {longest} words; expected a larger --max-length")
    if not found:
        form = "English sentences in the first column that begin with `I am`, `he is` and so on"
        raise WrongFile(path, f"no pair passes the filter; expected {form}")
    return found


def hold_out(pairs: Pairs, fraction: float, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Return train and test without a common sentence, English or French.

    Pairs that are connected by common sentences are drawn together.

    Raises:
        WrongRequest: the test would be empty.
    """
    of_pair = _components(pairs)
    sizes = np.bincount(of_pair)
    left = round(fraction * len(pairs))
    chosen = np.zeros(len(sizes), np.bool_)
    for number in stream(seed, "translation/test").permutation(len(sizes)).tolist():
        if sizes[number] <= left:
            chosen[number] = True
            left -= int(sizes[number])
    require(bool(chosen.any()), "the test fraction leaves the test empty")
    is_test = chosen[of_pair].tolist()
    train = [pair for pair, tested in zip(pairs, is_test, strict=True) if not tested]
    return train, [pair for pair, tested in zip(pairs, is_test, strict=True) if tested]


def _components(pairs: Pairs) -> NDArray[np.int64]:
    """Return the connected component of each pair, by common sentences."""
    parent: dict[tuple[int, Tokens], tuple[int, Tokens]] = {}

    def root(node: tuple[int, Tokens]) -> tuple[int, Tokens]:
        while (above := parent.setdefault(node, node)) != node:
            parent[node] = node = parent[above]
        return node

    for english, french in pairs:
        parent[root((0, english))] = root((1, french))
    numbers: dict[tuple[int, Tokens], int] = {}
    components = [numbers.setdefault(root((0, english)), len(numbers)) for english, _ in pairs]
    return np.array(components, np.int64)
