"""Sentences as translation experiments spell them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.languages.spelling import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm 19.", "i m ."),
        ("J'ai 19 ans.", "j ai ans ."),
        ("Je n'ai pas été prêt !", "je n ai pas ete pret !"),
        ("Ça va ?", "ca va ?"),
        ("Elle est\u202ffâchée\u00a0!", "elle est fachee !"),  # spaces that are none of ASCII
        ("C\u2019est là-bas, non ?!", "c est la bas non ? !"),
        ("E\u0301te\u0301", "ete"),  # accents as characters of their own
        ("Wait...", "wait . . ."),
        ("I'm up at 5 a.m.", "i m up at a .m ."),  # the tutorial has a space before a dot only
        ("sœur", "s ur"),
        ("", ""),
    ],
)
def test_a_sentence_is_spelled_as_in_the_released_selection(text: str, expected: str) -> None:
    assert " ".join(words(text)) == expected


@given(st.text())
def test_what_is_spelled_so_stays_so(text: str) -> None:
    spelled = words(text)
    assert words(" ".join(spelled)) == spelled
    assert all(re.fullmatch("[.!?]?[a-z]+|[.!?]", word) for word in spelled)
