"""Sentences as translation experiments spell them: without capitals, accents or apostrophes.

This is what the PyTorch tutorial on translation does with its data, and with it Lake & Baroni
(2018) and Bastings et al. (2018): `Je n'ai pas été prêt !` is `je n ai pas ete pret !`.
"""

from __future__ import annotations

import re
import unicodedata

from daxy.core.tokens import Tokens

STOP = re.compile(r"([.!?])")
OTHER = re.compile(r"[^a-z.!?]+")


def words(text: str) -> Tokens:
    """Return the words of a sentence; each of `.`, `!` and `?` begins a word.

    Letters lose case and accents; whatever else there is, digits and apostrophes too, stands
    between words. A letter that is no letter of a to z with an accent, as in `sœur`, does so too.
    """
    return tuple(OTHER.sub(" ", STOP.sub(r" \1", _bare(text))).split())


def is_word(text: str) -> bool:
    """Whether a text is one word, of which nothing is lost but case and accents."""
    return re.fullmatch("[a-z]+", _bare(text.strip())) is not None


def _bare(text: str) -> str:
    if text.isascii():
        return text.lower()
    letters = unicodedata.normalize("NFD", text.lower())
    return "".join(letter for letter in letters if unicodedata.category(letter) != "Mn")
