"""Counts in words."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """Return how many there are of something: 1 cell, 2,000 cells."""
    return f"{count:,} {noun}{'s' * (count != 1)}"
