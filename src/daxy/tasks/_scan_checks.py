"""Recognition and counts of pairs of SCAN and NACS, for `daxy verify`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from daxy.core.examples import Example, Tokens
from daxy.languages import scan
from daxy.tasks._checked import Count


def is_scan(examples: Sequence[Example]) -> bool:
    """Whether at least half of the words belong to SCAN's commands and actions."""
    words = Counter(word for each in examples for word in (*each.source, *each.target))
    return 2 * sum(n for word, n in words.items() if scan.is_word(word)) >= words.total()


def is_mirrored(examples: Sequence[Example]) -> bool:
    """Whether most sources begin with an action, as in NACS."""
    firsts = [scan.official_spelling(each.source[0]) for each in examples if each.source]
    return 2 * sum(first in scan.ACTIONS for first in firsts) > len(examples)


def counts(examples: Sequence[Example], commands: Sequence[Tokens]) -> dict[str, Count]:
    """Return the numbers of repeated commands, proxies and other spellings."""
    sides = [{*each.source, *each.target} for each in examples]
    spelled = sum(any(scan.official_spelling(word) != word for word in side) for side in sides)
    every = {
        "duplicates": Count(len(commands) - len(set(commands)), "duplicates"),
        "proxy": Count(sum(scan.PROXY in side for side in sides), "with the proxy `dab`"),
        "paper_spelling": Count(spelled, "with actions spelled as in the paper"),
    }
    return {name: it for name, it in every.items() if it.number or name == "duplicates"}
