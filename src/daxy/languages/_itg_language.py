"""A transduction grammar as a language: a source means the target of its derivation."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

from daxy.core.display import counted
from daxy.core.errors import require
from daxy.core.tokens import Tokens
from daxy.languages._itg_grammar import Grammar
from daxy.languages._itg_parser import Derivation, parse
from daxy.languages._language import Language, Reading, Tree, lines, node


class Derivations(Language[Derivation]):
    """Sources of a grammar, and the targets that are derived with them."""

    def __init__(self, grammar: Callable[[], Grammar]) -> None:
        self._grammar = grammar

    def words(self, text: str) -> Tokens:
        """Return the tokens of a source, which may stand in `<s>` and `</s>`."""
        return tuple(text.removeprefix("<s> ").removesuffix(" </s>").split())

    def parse(self, words: Tokens) -> Derivation:
        """Return a derivation of a source."""
        return parse(self._grammar(), words)

    def denote(self, phrase: Derivation, world: Any = None) -> Tokens:
        """Return the target of a derivation."""
        del world
        return phrase.target

    def say(self, phrase: Derivation) -> Tokens:
        """Return the source of a derivation."""
        return phrase.source

    def tree(self, phrase: Derivation) -> Tree:
        """Return the rules, each without its probability, as a tree of any depth."""
        root = node("")
        waiting = [(phrase, root)]
        while waiting:
            this, above = waiting.pop()
            _, _, rule = str(this.rule).partition(" ")
            below = node(rule)
            above["children"].append(below)
            waiting += [(child, below) for child in reversed(this.children)]
        return root["children"][0]

    def interpret(self, text: str, world: Any = None) -> Reading:
        """Return the derivation of a source, or of a source and a target after `|||`."""
        del world
        grammar, inner = self._grammar(), " ".join(self.words(text))
        source, bars, target = inner.partition("|||")
        wanted = "expected a sentence of the grammar, as si1 vi2 oi3 of svo_sov"
        require(bool(source.split()), wanted)
        found = parse(grammar, tuple(source.split()), tuple(target.split()) if bars else None)
        tree = self.tree(found)
        data = {
            "source": list(found.source),
            "target": list(found.target),
            "derivation": tree,
            "log_probability": found.log_probability,
        }
        tokens = f"{counted(len(found.target), 'token')}: {' '.join(found.target)}"
        likely = f"probability of this derivation: {_power(found.log_probability)}"
        sides = f"{' '.join(found.source)} ||| {' '.join(found.target)}"
        return Reading(data, [*lines(tree), "", tokens, likely], [(tree, sides)])


def _power(logarithm: float) -> str:
    """Return a number as text by its natural logarithm, however small it is."""
    number = math.exp(logarithm)
    if number > sys.float_info.min:
        return f"{number:.3g}"
    exponent = math.floor(logarithm / math.log(10))
    return f"{math.exp(logarithm - exponent * math.log(10)):.3g}e{exponent}"
