"""What is wrong with an example of a file."""

from __future__ import annotations

from typing import Any, NamedTuple


class Disagreement(NamedTuple):
    """What is wrong with an example."""

    split: str
    number: int
    """In its split, from 0."""
    problem: str

    @property
    def is_line(self) -> bool:
        """Whether its number is that of a line of a file without named parts."""
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
