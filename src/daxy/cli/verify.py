"""Check a file in the format of SCAN's or gSCAN's authors against the rules."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.cli._verb import Result, Verb
from daxy.cli._words import counted
from daxy.core.errors import require
from daxy.core.files import read_bytes

if TYPE_CHECKING:
    from daxy.core.examples import Examples

SAID = {"proxy": "with the proxy `dab`"}
"""What is counted, as text says it where that is not its name."""


@dataclass(frozen=True, kw_only=True)
class Verify(Verb):
    """Check that every example of a file is what the rules say.

    In a text file of SCAN every line has a command and the actions it means; in one of NACS, where
    most lines begin with an action, the other way round. Lines that occur more than once are
    counted; official training files have them on purpose. So are lines with `dab`, the proxy of
    `--validation dab`, which has the grammar of a primitive.

    In a `dataset.txt` of gSCAN every example says the same wherever it says it twice, its command
    speaks of the target and of nothing else, its actions are the demonstration, and it is in the
    split where it belongs. Examples of G in train, the shots, are counted.

    The exit code is 1 when an example disagrees.

    Example:
        daxy verify tasks_train_addprim_jump.txt
    """

    file: tyro.conf.Positional[Annotated[Path, tyro.conf.arg(metavar="FILE")]]
    """A file with lines `IN: <command> OUT: <actions>`, or with commands and actions swapped, or a
    `dataset.txt` of gSCAN."""
    show: int = 5
    """How many disagreements to show."""

    def run(self) -> Result:
        """Return how many examples agree, and the first that do not."""
        require(self.show >= 0, f"--show must not be negative: {self.show}")
        # A pipe can be read once only; what is no file at all is refused there.
        data = None if self.file.is_file() else read_bytes(self.file)
        begin = self._begin() if data is None else data
        authors = "expected a file in the format of the authors: `daxy export` writes one"
        require(not begin.startswith(b"PAR1"), f"{self.file} is Parquet; {authors}")
        require(not begin.startswith(b'{"split"'), f"{self.file} is JSON lines; {authors}")
        if begin.lstrip().startswith(b"{"):
            require(data is None, f"{self.file} is a pipe; expected a file for examples of gSCAN")
            return self._gscan()
        return self._scan(read_bytes(self.file) if data is None else data)

    def _begin(self) -> bytes:
        """Return the beginning of the file, or nothing of one that cannot be read."""
        with contextlib.suppress(OSError), self.file.open("rb") as file:
            return file.read(1024)
        return b""

    def _scan(self, data: bytes) -> Result:
        from daxy.core.examples import Examples
        from daxy.formats import scan_text
        from daxy.languages import scan

        examples = Examples.of(scan_text.parse(data, self.file))
        if _mirrored(examples):
            examples = examples.swapped()
        wrong = _disagreements(examples)
        repeated = sum(count - 1 for count in Counter(examples.source).values())
        proxy = sum(scan.PROXY in command for command in examples.source)
        more = {"repeated": repeated} | ({"proxy": proxy} if proxy else {})
        first = [{"line": line, "problem": problem} for line, problem in wrong[: self.show]]
        lines = [f"{self.file}:{line}: {problem}" for line, problem in wrong[: self.show]]
        return self._answer(len(examples), len(wrong), first, lines, more)

    def _gscan(self) -> Result:
        from daxy.tasks.gscan import examine, repeated, shots

        dataset, wrong = examine(self.file)
        splits = {name: dataset.counts[name] for name in dataset.parts}
        first = [each._asdict() for each in wrong[: self.show]]
        lines = [", ".join(f"{name} {count:,}" for name, count in splits.items())]
        lines += [f"{self.file}: {each}" for each in wrong[: self.show]]
        more = {"splits": splits, "shots": shots(dataset), "repeated": repeated(dataset)}
        return self._answer(sum(splits.values()), len(wrong), first, lines, more)

    def _answer(
        self,
        count: int,
        wrong: int,
        first: list[dict[str, Any]],
        lines: list[str],
        more: dict[str, Any],
    ) -> Result:
        """Return the answer: counts in the first line, then what is known besides."""
        counts = {name: value for name, value in more.items() if isinstance(value, int)}
        facts = [f"{count:,} {SAID.get(name, name)}" for name, count in counts.items()]
        said = [counted(count, "example"), counted(wrong, "disagreement"), *facts]
        data = {"file": str(self.file), "examples": count, "disagreements": wrong, **more}
        text = "\n".join([f"{self.file}: {', '.join(said)}", *lines])
        return Result(data=data | {"first": first}, text=text, exit_code=1 if wrong else 0)


def _mirrored(examples: Examples) -> bool:
    """Return whether these are pairs of NACS: whether most sources begin with an action."""
    from daxy.languages import scan

    firsts = Counter(scan.official_spelling(source[0]) for source in examples.source)
    actions = sum(count for first, count in firsts.items() if first.startswith("I_"))
    return 2 * actions > len(examples)


def _disagreements(examples: Examples) -> list[tuple[int, str]]:
    """Return the numbers of the lines that disagree with the grammar, and why."""
    from daxy.languages import scan

    official = examples.target.renamed(scan.official_spelling)
    grammars = (
        scan.SCAN_WITH_DAB if scan.PROXY in command else scan.SCAN for command in examples.source
    )
    problems = map(scan.disagreement, examples.source, official, grammars)
    return [(line, problem) for line, problem in enumerate(problems, start=1) if problem]


VERB = Verify
