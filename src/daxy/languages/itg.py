"""Stochastic inversion transduction grammars: pairs of sequences derived together (Wu 1997).

A rule becomes tokens and nonterminals on both sides at once; the nonterminals are the same, in any
order. `read` takes a grammar from text; `GRAMMARS` are those of Grefenstette et al. (2015, Table
1). A `Sampler` draws pairs whose sources have given lengths, exactly, and knows how likely each
length is; `parse` finds a derivation.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path

from daxy.core.errors import UnknownName, WrongFile
from daxy.languages._itg_grammar import Grammar, Rule
from daxy.languages._itg_notation import read
from daxy.languages._itg_parser import Derivation, parse
from daxy.languages._itg_sampling import Sampler

__all__ = [
    "GRAMMARS",
    "Derivation",
    "Grammar",
    "Rule",
    "Sampler",
    "grammar",
    "load",
    "parse",
    "read",
]

GRAMMARS = ("svo_sov", "gender")
"""The grammars that daxy has; each is a file to look at."""


@cache
def grammar(name: str) -> Grammar:
    """Return one of daxy's own grammars.

    Raises:
        UnknownName: there is none of that name.
    """
    if name not in GRAMMARS:
        raise UnknownName("grammar", name, GRAMMARS)
    file = resources.files("daxy.languages") / "grammars" / f"{name}.itg"
    return read(file.read_text(encoding="utf-8"), file.name)


def load(path: Path) -> Grammar:
    """Return the grammar of a file.

    Raises:
        WrongFile: there is no such file, it is no text, or no grammar.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongFile(path, f"cannot be read as text: {error}") from error
    return read(text, path)
