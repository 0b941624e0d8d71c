"""Stochastic inversion transduction grammars: pairs of sequences derived together (Wu 1997).

A rule becomes tokens and nonterminals on both sides at once; the nonterminals are the same, in any
order. `read` takes a grammar from text; `GRAMMARS` are those of Grefenstette et al. (2015, Table
1). A `Sampler` draws pairs whose sources have given lengths, exactly, and knows how likely each
length is; `parse` finds a derivation.

    1/5   S -> S1 rpi S2 VT3 | S1 rpo S2 VT3

A rule has a probability, a left-hand side, and its two sides on either side of a bar; one side
alone stands for two that are alike. What begins with a capital letter is a nonterminal, and a
number after it says which on one side is which on the other; a name that a side has once needs no
number on either. The first left-hand side is the root. Probabilities are written as 1/5 or 0.2, in
801 characters at most, 400 of them in a number, and are no less than 2.225e-308.

    1/33  ST_i -> si_i | so_i

stands for as many rules as make the probabilities of ST sum to 1, with 1, 2, 3 and so on in place
of i. A comma begins another pair of sides with the same left-hand side and probability; a line may
have several rules, and the next has the probability of the one before unless it says its own. A
probability may be followed by `each`, which changes nothing. The rest of a line after a # with a
space or nothing before it is a remark.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any, final

from daxy.core.errors import UnknownName, WrongFile, WrongRequest
from daxy.core.files import decoded, read_bytes
from daxy.core.kinds import HEAD, check_kind
from daxy.languages._itg_grammar import Grammar, Rule
from daxy.languages._itg_language import Derivations
from daxy.languages._itg_notation import read
from daxy.languages._itg_parser import Derivation, parse
from daxy.languages._itg_sampling import Sampler
from daxy.languages._language import Language

__all__ = [
    "GRAMMARS",
    "LANGUAGE",
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
"""Grammars of daxy, each a file in `grammars`."""


@cache
def grammar(name: str) -> Grammar:
    """Return a grammar of daxy.

    Raises:
        UnknownName: there is none of that name.
    """
    if name not in GRAMMARS:
        raise UnknownName("grammar", name, GRAMMARS)
    file = Path(__file__).parent / "grammars" / f"{name}.itg"
    return read(file.read_text(encoding="utf-8"), file.name)


def load(path: Path | str) -> Grammar:
    """Return the grammar of a file.

    Raises:
        WrongFile: the file is missing, no text or no grammar.
    """
    path = Path(path)
    expected = "the rules of a grammar"
    data = read_bytes(path, expected)
    text = "\n".join(decoded(line, path, at) for at, line in enumerate(data.split(b"\n"), 1))
    try:
        return read(text, path)
    except WrongFile as error:
        if error.line == 1:
            check_kind(data[:HEAD], path, expected, reads=("empty",))
        raise


def _no_grammar() -> Grammar:
    raise WrongRequest("itg needs --grammar FILE")


@final
class OfFile(Derivations):
    """The grammar of a file."""

    def of_file(self, grammar: Path) -> Language[Any]:
        """Return the language of the grammar of a file."""
        return Derivations(partial(load, grammar))


LANGUAGE = OfFile(_no_grammar)
