"""Tokens in strings and lists."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import Protocol

from daxy.core.errors import quote

Tokens = tuple[str, ...]


class HasSymbols(Protocol):
    """Columns of tokens, as `daxy.core.examples.Sequences`."""

    @property
    def symbols(self) -> Tokens:
        """The dictionary."""
        ...


def spaced(*columns: HasSymbols) -> frozenset[str]:
    """Return the tokens with spaces, as gSCAN's `turn left`."""
    return frozenset(symbol for each in columns for symbol in each.symbols if " " in symbol)


def split(text: str, spaced: frozenset[str]) -> Tokens:
    """Return the tokens of a string, separated by commas if tokens have spaces, else by spaces."""
    if not spaced:
        return tuple(text.split())
    return tuple(part.strip() for part in text.split(",")) if text.strip() else ()


def first_difference(one: Tokens, other: Tokens) -> int | None:
    """Return the index of the first difference, from 0; None for equal sequences."""
    pairs = enumerate(zip_longest(one, other))
    return next((place for place, (left, right) in pairs if left != right), None)


def mismatch(right: Tokens, given: Tokens) -> tuple[int, str, str]:
    """Return the position of the first difference, from 1, the right token and the given one."""
    place = first_difference(right, given)
    assert place is not None
    wanted, actual = ((*tokens, "the end")[place] for tokens in (right, given))
    return place + 1, quote(wanted), quote(actual)


def odd(tokens: Iterable[object], spaced: frozenset[str]) -> list[object]:
    """Return the values that are not one token."""
    return [token for token in tokens if not _is_one(token, spaced)]


def _is_one(token: object, spaced: frozenset[str]) -> bool:
    return isinstance(token, str) and (token.split() == [token] or token in spaced)
