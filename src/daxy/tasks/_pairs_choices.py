"""The options of `daxy.pairs` as keyword arguments, for type checkers and editors."""

from __future__ import annotations

from typing import Literal, TypedDict


class PairsChoices(TypedDict, total=False):
    """Settings of a reader of pairs; see `daxy.tasks._pairs_options.PairsOptions`."""

    validation_fraction: float
    source_column: str
    target_column: str
    split_column: str
    tokens: Literal["words", "characters"]
    header: Literal["auto", "yes", "no"]
    quotes: Literal["auto", "yes", "no"]
    normalize_unicode: bool
