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
"""Number of first pairs that decide on the task."""


@dataclass(frozen=True, kw_only=True)
class Verify(Verb):
    """Check that every example of a file is what the rules of its task say.

    The file is in any format that `daxy export` writes: SCAN's text, joint sequences, text with
    tabs, two files with a side each (name one of them), JSON lines, Parquet, or gSCAN's
    `dataset.txt`. For SCAN and NACS, duplicates are counted; official training files have them on
    purpose. Examples with `dab`, the proxy of `--validation dab`, are counted too.

    A gSCAN example agrees if its redundant fields do, its command refers to the target alone, its
    actions are the demonstration, and its split is right. Examples of G in train, the shots, are
    counted.

    The exit code is 1 when an example disagrees.

    Example:
        daxy verify tasks_train_addprim_jump.txt
        daxy verify train.src
        daxy verify pairs.tsv --task transduction/reverse
    """

    file: tyro.conf.Positional[Annotated[Path, tyro.conf.arg(metavar="FILE")]]
    """The file; of two files with a side each, one of them."""
    task: str | None = None
    """Task of the pairs; by default recognised from the first pairs."""
    official: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """The authors' files, for a task without rules: a pair that they lack disagrees."""
    show: int = 5
    """Number of disagreements to show."""

    def run(self) -> Result:
        """Return the number of disagreements, and the first ones."""
        from daxy.formats import pairs

        require(self.show >= 0, f"--show must not be negative: {self.show}")
        form = pairs.format_of(self.file) if self.file.is_file() else ""
        for task in _candidates():
            if form and task.own_format == form:
                return self._answer(task.on(self.official).examine(self.file))
        content = pairs.read(self.file)
        return self._answer(self._task(content).on(self.official).check(content.parts))

    def _task(self, content: Pairs) -> Task[Any]:
        """Return the task of the pairs.

        Raises:
            WrongRequest: no task is named, and the first pairs fit the rules of none.
        """
        from daxy import tasks
        from daxy.formats import parquet

        name = self.task
        if name is None and content.form == "parquet":
            name = parquet.provenance(self.file).get("task")
        if name is not None:
            return tasks.get(name)
        first = [pair for part in content.parts.values() for pair in part[:TRIED]][:TRIED]
        has_worlds = any(part.worlds is not None for part in content.parts.values())
        for task in _candidates():
            if task.grounded == has_worlds and task.recognises(first):
                return task
        problem = "its first pairs fit the rules of no task"
        raise WrongRequest(f"{self.file}: {problem}; expected --task TASK")

    def _answer(self, checked: CheckResult) -> Result:
        count, wrong = sum(checked.parts.values()), checked.wrong
        parts = {name: number for name, number in checked.parts.items() if name}
        facts = [f"{it.number:,} {it.label}" for it in checked.counts.values()]
        counts = [counted(count, "example"), counted(len(wrong), "disagreement"), *facts]
        lines = [f"{self.file}: {', '.join(counts)}"]
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
    """Yield one task for each set of rules."""
    from daxy import tasks

    seen = set[str]()
    for benchmark in tasks.BENCHMARKS.loaded().values():
        for task in benchmark.values():
            if task.checked_as not in seen:
                seen.add(task.checked_as)
                yield task


VERB = Verify
