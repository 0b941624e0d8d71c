"""Check a SCAN text file against the grammar."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from daxy.cli._verb import Result, Verb
from daxy.core.errors import require

if TYPE_CHECKING:
    from daxy.core.examples import Examples


@dataclass(frozen=True, kw_only=True)
class Verify(Verb):
    """Check that every line of a SCAN text file has a command and the actions it means.

    The exit code is 1 when a line disagrees. Lines that occur more than once are counted; official
    training files have them on purpose.

    Example:
        daxy verify tasks_train_addprim_jump.txt
    """

    file: tyro.conf.Positional[Annotated[Path, tyro.conf.arg(metavar="FILE")]]
    """A file with lines `IN: <command> OUT: <actions>`."""
    show: int = 5
    """How many disagreements to show."""

    def run(self) -> Result:
        """Return how many lines agree, and the first that do not."""
        from daxy.formats import scan_text

        require(self.show >= 0, f"--show must not be negative: {self.show}")
        examples = scan_text.read(self.file)
        wrong = _disagreements(examples)
        repeated = sum(count - 1 for count in Counter(examples.source).values())
        said = f"{len(examples):,} examples, {len(wrong):,} disagreements, {repeated:,} repeated"
        lines = [f"{self.file}: {said}"]
        lines += [f"{self.file}:{line}: {problem}" for line, problem in wrong[: self.show]]
        data = {
            "file": str(self.file),
            "examples": len(examples),
            "disagreements": len(wrong),
            "repeated": repeated,
            "first": [{"line": line, "problem": problem} for line, problem in wrong[: self.show]],
        }
        return Result(data=data, text="\n".join(lines), exit_code=1 if wrong else 0)


def _disagreements(examples: Examples) -> list[tuple[int, str]]:
    """Return the numbers of the lines that disagree with the grammar, and why."""
    from daxy.languages import scan

    official = examples.target.renamed(scan.official_spelling)
    problems = map(scan.disagreement, examples.source, official)
    return [(line, problem) for line, problem in enumerate(problems, start=1) if problem]


VERB = Verify
