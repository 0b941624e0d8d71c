"""Inflection of the words of `daxy.languages.copular`."""

from __future__ import annotations

from daxy.core.tokens import Tokens
from daxy.languages import spelling

FEMININE = (
    ("eux", "euse"),
    ("eur", "euse"),
    ("er", "ère"),
    ("el", "elle"),
    ("en", "enne"),
    ("on", "onne"),
    ("et", "ette"),
    ("f", "ve"),
    ("e", "e"),
)
"""Feminine endings; other words get an e."""
PLURAL = (
    ("s", "s"),
    ("x", "x"),
    ("eau", "eaux"),
    *((w, f"{w}s") for w in ("fatal", "banal")),
    ("al", "aux"),
)
"""Plural endings; other words get an s."""
ENGLISH_PLURAL = (("man", "men"), ("s", "ses"), ("ch", "ches"), ("y", "ies"))


def french(man: str, woman: str | None = None) -> tuple[Tokens, Tokens, Tokens, Tokens]:
    """Return the French forms for a man, a woman, men and women.

    Args:
        man: Masculine form, with accents.
        woman: Feminine form; by the rules by default.
    """
    female = woman or _ended(man, FEMININE, "e")
    every = (man, female, _ended(man, PLURAL, "s"), _ended(female, PLURAL, "s"))
    one, other, many, others = map(spelling.words, every)
    return one, other, many, others


def english_plural(noun: str) -> str:
    """Return the plural of an English noun."""
    return _ended(noun, ENGLISH_PLURAL, "s")


def _ended(word: str, endings: tuple[tuple[str, str], ...], otherwise: str) -> str:
    for old, new in endings:
        if word.endswith(old):
            return word.removesuffix(old) + new
    return word + otherwise
