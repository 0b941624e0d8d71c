"""Errors of examples in files."""

from __future__ import annotations

from typing import Any, NamedTuple


class Disagreement(NamedTuple):
    """An error of an example."""

    split: str
    number: int
    """Number of the example in its split, from 0."""
    problem: str

    @property
    def is_line(self) -> bool:
        """Whether the number is a line of a file without named parts."""
        return not self.split

    @property
    def as_json(self) -> dict[str, Any]:
        """The same as JSON values; a line counts from 1."""
        if self.is_line:
            return {"line": self.number + 1, "problem": self.problem}
        return self._asdict()

    def __str__(self) -> str:
        place = f"{self.number + 1}" if self.is_line else f"{self.split}[{self.number}]"
        return f"{place}: {self.problem}"
