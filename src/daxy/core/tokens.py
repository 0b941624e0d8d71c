"""Tokens as people write them: a string, or a list."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import TYPE_CHECKING

from daxy.core.errors import quote

if TYPE_CHECKING:
    from daxy.core.examples import Sequences

Tokens = tuple[str, ...]


def spaced(*columns: Sequences) -> frozenset[str]:
    """Return the tokens that have spaces in them, as gSCAN's `turn left` has."""
    return frozenset(symbol for each in columns for symbol in each.symbols if " " in symbol)


def split(text: str, spaced: frozenset[str]) -> Tokens:
    """Return the tokens of a string: between commas where tokens have spaces, else spaces."""
    if not spaced:
        return tuple(text.split())
    return tuple(part.strip() for part in text.split(",")) if text.strip() else ()


def first_difference(one: Tokens, other: Tokens) -> int | None:
    """Return the position of the first token that differs, from 0; None for equal sequences."""
    pairs = enumerate(zip_longest(one, other))
    return next((place for place, (left, right) in pairs if left != right), None)


def mismatch(right: Tokens, given: Tokens) -> tuple[int, str, str]:
    """Return the position of the first difference, from 1, the right token and the given one."""
    place = first_difference(right, given)
    assert place is not None
    wanted, actual = ((*tokens, "the end")[place] for tokens in (right, given))
    return place + 1, quote(wanted), quote(actual)


def odd(tokens: Iterable[object], spaced: frozenset[str]) -> list[object]:
    """Return what is not one token."""
    return [token for token in tokens if not _is_one(token, spaced)]


def _is_one(token: object, spaced: frozenset[str]) -> bool:
    return isinstance(token, str) and (token.split() == [token] or token in spaced)
