"""Pairs of the transduction suite, and the same by letting the rules run and throwing pairs away.

    python -m benchmarks.transduction

Each task makes 100,000 pairs of training lengths and as many of test lengths. The peer draws from
the root down, rule after rule, gives up as soon as a sentence is too long, and throws away what is
too short; it writes only what it keeps. Both draw from the same distribution.
"""

from __future__ import annotations

import os

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])  # before any library counts cores

import random
import time
from collections.abc import Iterator
from functools import partial

from benchmarks.side_by_side import measure, warn_if_busy
from daxy import tasks
from daxy.core.examples import Examples
from daxy.languages import itg
from daxy.languages.itg import Grammar, Rule
from daxy.tasks._streams import BLOCK, Derivations, Stream

COUNT = 100_000
RANGES = {"train": (8, 64), "test": (65, 128)}
FEW = 50
"""Pairs that the peer makes in a call."""


def main() -> None:
    """Print seconds and ratios."""
    warn_if_busy()
    for name in ("copy", "reverse", "bigram_flip", *itg.GRAMMARS):
        task = f"transduction/{name}"
        few = {"validation_pairs": 1, "test_pairs": 1}
        seconds = {
            part: timed(
                task, {"train_pairs": COUNT, "min_length": least, "max_length": most, **few}
            )
            for part, (least, most) in RANGES.items()
        }
        said = ", ".join(f"{taken:.1f} s of {part} lengths" for part, taken in seconds.items())
        print(f"{task}: {COUNT:,} pairs: {said}")
    for name in itg.GRAMMARS:
        for part, (least, most) in RANGES.items():
            ours = Stream(Derivations(itg.grammar(name), least, most, False), 0, part)
            theirs = partial(rejected, itg.grammar(name), least, most, FEW, random.Random(0))
            timing = measure(lambda ours=ours: ours.pairs(range(BLOCK)), theirs, seconds=2.0)
            ratio = timing.ratio * BLOCK / FEW
            print(f"{name}, {part} lengths: {ratio:.0f}x rule after rule with rejection")


def timed(task: str, choices: dict[str, int]) -> float:
    """Return how long a task's data takes."""
    began = time.perf_counter()
    tasks.get(task).split(tasks.data(task, **choices))
    return time.perf_counter() - began


def rejected(grammar: Grammar, least: int, most: int, count: int, draw: random.Random) -> Examples:
    """Return so many pairs in a range of lengths."""
    odds = {
        left: [float(rule.probability) for rule in own] for left, own in grammar.rules_of.items()
    }
    pairs = list[tuple[list[str], list[str]]]()
    while len(pairs) < count:
        rules = derived(grammar, odds, most, draw)
        if rules is not None:
            source, target = written(iter(rules))
            if len(source) >= least:
                pairs.append((source, target))
    return Examples.of(pairs)


def derived(
    grammar: Grammar, odds: dict[str, list[float]], most: int, draw: random.Random
) -> list[Rule] | None:
    """Return the rules of a derivation, depth first; None if it becomes too long."""
    waiting, rules, length = [grammar.root], list[Rule](), 0
    while waiting:
        left = waiting.pop()
        (rule,) = draw.choices(grammar.rules_of[left], odds[left])
        rules.append(rule)
        length += len(rule.source) - len(rule.children)
        waiting += rule.children[::-1]
        if length + len(waiting) > most:
            return None
    return rules


def written(rules: Iterator[Rule]) -> tuple[list[str], list[str]]:
    """Return both sides of a derivation."""
    rule = next(rules)
    below = [written(rules) for _ in rule.children]
    source, target = list[str](), list[str]()
    for symbol in rule.source:
        source += [symbol] if isinstance(symbol, str) else below[symbol][0]
    for symbol in rule.target:
        target += [symbol] if isinstance(symbol, str) else below[symbol][1]
    return source, target


if __name__ == "__main__":
    main()
