"""Sentences and their translations: drawn from a grammar, or those of a file."""

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
"""Pairs that are drawn from the grammar: as many as the released selection has."""
OFTEN = {"i": 4.0, "you": 3.0, "he": 2.0, "she": 1.0, "we": 1.5, "they": 1.0}
"""How often who is spoken of, and below: one who is not so, is very so, in a contraction. About as
in the sentences of Tatoeba."""
NEGATED, VERY, CONTRACTED = 0.15, 0.1, 3.0
COMMON = 10
"""The larger, the less some predicates are more common than others: rank r has 1 / (r + this)."""


def drawn(known: Predicate, longest: int, seed: int, hidden: Pairs) -> list[Pair]:
    """Return different pairs of the grammar of `daxy.languages.copular`, likely ones more often.

    Args:
        known: The predicate that is the most common.
        longest: The most words of a sentence.
        seed: Of the draw.
        hidden: Pairs of which neither sentence is to be drawn.

    Raises:
        WrongRequest: no sentence is so short.
    """
    pairs, predicate_of, logarithms = _weighed()
    draws = stream(seed, "translation/grammar")
    ranks = draws.permutation(len(copular.predicates())) + 1
    ranks[copular.predicates().index(known)] = 0
    # The largest of so many such sums are a draw by weight without putting back.
    keys = logarithms - np.log(ranks[predicate_of] + COMMON) + draws.gumbel(size=len(pairs))
    found: list[Pair] = []
    for pair in without((pairs[row] for row in np.argsort(-keys).tolist()), hidden):
        if max(map(len, pair)) <= longest:
            found.append(pair)
        if len(found) == DRAWN:
            break
    require(bool(found), f"the grammar has no sentences of up to {longest} words; expected more")
    return found


@cache
def _weighed() -> tuple[list[Pair], NDArray[np.int64], NDArray[np.float64]]:
    """Return all pairs of the grammar, and of each the predicate's number and how likely it is.

    The likelihood is a logarithm and is not that of the predicate.
    """
    found: dict[Pair, tuple[int, float]] = {}
    many = {who: sum(each.english == who for each in SUBJECTS) for who in OFTEN}
    for number, predicate in enumerate(copular.predicates()):
        for clause in copular.clauses(predicate):
            weight = _weight(clause) / many[clause.subject.english]
            (french,) = clause.said("french")
            for english in clause.said("english"):
                full = english[1] in ("am", "are", "is")
                added = weight * (1.0 if full else CONTRACTED)
                before = found.get((english, french), (number, 0.0))
                found[english, french] = number, before[1] + added
    numbers, weights = zip(*found.values(), strict=True)
    return list(found), np.array(numbers), np.array(list(map(log, weights)))


def _weight(clause: Clause) -> float:
    """Return how often something like that is said, whatever is said of whom."""
    often = OFTEN[clause.subject.english]
    often *= NEGATED if clause.is_negated else 1
    return often * (VERY if clause.is_very else 1)


def without(pairs: Iterable[Pair], hidden: Pairs) -> Iterator[Pair]:
    """Yield the pairs that share no sentence with those that are hidden."""
    english, french = ({pair[side] for pair in hidden} for side in (0, 1))
    for pair in pairs:
        if pair[0] not in english and pair[1] not in french:
            yield pair


def of_file(path: Path, prefixes: Sequence[str], longest: int) -> list[Pair]:
    """Return the pairs of a file of Tatoeba's sentences that the tutorial's filter lets pass.

    Args:
        path: The file.
        prefixes: What the English sentence has to begin with.
        longest: The most words that either sentence may have.

    Raises:
        WrongFile: a line is wrong, or has no French word; or no pair passes.
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


def held_out(pairs: Pairs, fraction: float, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Return train and test; no sentence, English or French, is in both.

    Pairs that share a sentence, or are linked by pairs that do, are drawn together, until the test
    has its share of the pairs.

    Raises:
        WrongRequest: that leaves the test empty.
    """
    of_pair = _linked(pairs)
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


def _linked(pairs: Pairs) -> NDArray[np.int64]:
    """Return a number for each pair; pairs that are linked by sentences have the same."""
    parent: dict[tuple[int, Tokens], tuple[int, Tokens]] = {}

    def root(node: tuple[int, Tokens]) -> tuple[int, Tokens]:
        while (above := parent.setdefault(node, node)) != node:
            parent[node] = node = parent[above]
        return node

    for english, french in pairs:
        parent[root((0, english))] = root((1, french))
    numbers: dict[tuple[int, Tokens], int] = {}
    found = [numbers.setdefault(root((0, english)), len(numbers)) for english, _ in pairs]
    return np.array(found, np.int64)
