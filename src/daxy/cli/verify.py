"""Check the examples of a file against the rules of their task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.cli._result import Result
from daxy.cli._verb import Verb
from daxy.core.display import counted
from daxy.core.errors import WrongRequest, require

if TYPE_CHECKING:
    from daxy.formats.pairs import Pairs
    from daxy.tasks import Task
    from daxy.tasks._checked import CheckResult

TRIED = 20
"""Pairs by which a task is recognised."""


@dataclass(frozen=True, kw_only=True)
class Verify(Verb):
    """Check that every example of a file is what the rules of its task say.

    The file is in any format that `daxy export` writes: SCAN's text, joint sequences, text with
    tabs, two files with a side each (name one of them), JSON lines, Parquet, or gSCAN's
    `dataset.txt`. Of SCAN and NACS, examples that occur more than once are counted; official
    training files have them on purpose. So are those with `dab`, the proxy of `--validation dab`.

    In gSCAN every example says the same wherever it says it twice, its command speaks of the target
    and of nothing else, its actions are the demonstration, and it is in the split where it belongs.
    Examples of G in train, the shots, are counted.

    The exit code is 1 when an example disagrees.

    Example:
        daxy verify tasks_train_addprim_jump.txt
        daxy verify train.src
        daxy verify pairs.tsv --task transduction/reverse
    """

    file: tyro.conf.Positional[Annotated[Path, tyro.conf.arg(metavar="FILE")]]
    """The file; of two files with a side each, one of them."""
    task: str | None = None
    """Task of the pairs; recognised from the first pairs unless given."""
    official: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """The authors' files, of a task that is files only: a pair that is not there disagrees."""
    show: int = 5
    """Number of disagreements to show."""

    def run(self) -> Result:
        """Return how many examples agree, and the first that do not."""
        from daxy.formats import pairs

        require(self.show >= 0, f"--show must not be negative: {self.show}")
        form = pairs.format_of(self.file) if self.file.is_file() else ""
        for task in _candidates():
            if form and task.own_format == form:
                return self._answer(task.on(self.official).examine(self.file))
        found = pairs.read(self.file)
        return self._answer(self._task(found).on(self.official).check(found.parts))

    def _task(self, found: Pairs) -> Task[Any]:
        """Return the task whose pairs these are.

        Raises:
            WrongRequest: none is given, and none has rules by which the first pairs are right.
        """
        from daxy import tasks
        from daxy.formats import parquet

        named = self.task
        if named is None and found.form == "parquet":
            named = parquet.provenance(self.file).get("task")
        if named is not None:
            return tasks.get(named)
        first = [each for part in found.parts.values() for each in part[:TRIED]][:TRIED]
        has_worlds = any(part.worlds is not None for part in found.parts.values())
        for task in _candidates():
            if task.grounded == has_worlds and task.recognises(first):
                return task
        unknown = "its first pairs fit the rules of no task"
        raise WrongRequest(f"{self.file}: {unknown}; expected --task TASK")

    def _answer(self, checked: CheckResult) -> Result:
        """Return the answer: counts in the first line, then the first disagreements."""
        count, wrong = sum(checked.parts.values()), checked.wrong
        parts = {name: number for name, number in checked.parts.items() if name}
        facts = [f"{it.number:,} {it.label}" for it in checked.counts.values()]
        said = [counted(count, "example"), counted(len(wrong), "disagreement"), *facts]
        lines = [f"{self.file}: {', '.join(said)}"]
        sizes = ", ".join(f"{name} {number:,}" for name, number in parts.items())
        shown = wrong[: self.show]
        lines += [*filter(None, (sizes, checked.note))]
        lines += [f"{self.file}:{'' if each.is_line else ' '}{each}" for each in shown]
        data = {
            "file": str(self.file),
            "checked_as": checked.checked_as,
            "kind": checked.kind,
            "examples": count,
            "disagreements": len(wrong),
            "parts": parts,
            **{name: it.number for name, it in checked.counts.items()},
            "first_disagreements": [each.as_json for each in shown],
        }
        return Result(data=data, text="\n".join(lines), exit_code=1 if wrong else 0)


def _candidates() -> Iterator[Task[Any]]:
    """Yield a task of each kind of rules, benchmark by benchmark."""
    from daxy import tasks

    seen = set[str]()
    for benchmark in tasks.BENCHMARKS.loaded().values():
        for task in benchmark.values():
            if task.checked_as not in seen:
                seen.add(task.checked_as)
                yield task


VERB = Verify
