"""Check the examples of a file against the rules of their task."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.cli._result import Result
from daxy.cli._verb import Verb
from daxy.core.display import counted
from daxy.core.errors import WrongRequest, require

if TYPE_CHECKING:
    from daxy.core.examples import Example, Examples
    from daxy.formats.gscan_json import Disagreement
    from daxy.formats.pairs import Pairs
    from daxy.tasks import Task
    from daxy.tasks._gscan_kinds import Taken
    from daxy.tasks._gscan_official import Examined

SAID = {"proxy": "with the proxy `dab`", "paper_spelling": "with actions spelled as in the paper"}
"""What is counted, as text says it where that is not its name."""
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
    show: int = 5
    """Number of disagreements to show."""

    def run(self) -> Result:
        """Return how many examples agree, and the first that do not."""
        from daxy.formats import pairs

        require(self.show >= 0, f"--show must not be negative: {self.show}")
        is_file = self.file.is_file()
        if is_file and pairs.format_of(self.file) == "gscan-json":
            from daxy.tasks.gscan import examine

            return self._checked(examine(self.file))
        return self._pairs(pairs.read(self.file))

    def _pairs(self, found: Pairs) -> Result:
        """Return the answer on pairs whose meaning depends on no world."""
        from daxy.languages import scan
        from daxy.tasks.gscan import check

        if any(examples.worlds is not None for examples in found.parts.values()):
            return self._checked(check(found.parts))
        task = self._task(found)
        wrong = list(_disagreements(task, found.parts))
        examples = [each for part in found.parts.values() for each in part]
        more = {"duplicates": len(examples) - len({each.key for each in examples})}
        if task.name.startswith(("scan/", "nacs/")):
            commands = {each.target if task.name[0] == "n" else each.source for each in examples}
            more = {"duplicates": len(examples) - len(commands)}
            sides = [{*each.source, *each.target} for each in examples]
            proxy = sum(scan.PROXY in words for words in sides)
            spelled = sum(any(scan.official_spelling(it) != it for it in side) for side in sides)
            more |= {"proxy": proxy} if proxy else {}
            more |= {"paper_spelling": spelled} if spelled else {}
        parts = {name: len(part) for name, part in found.parts.items() if name}
        of_all = task.name.startswith(("scan/", "nacs/"))  # all splits have the same rules
        checked_as = task.name.partition("/")[0] if of_all else task.name
        return self._answer(checked_as, len(examples), wrong, more, parts)

    def _task(self, found: Pairs) -> Task[Any]:
        """Return the task whose pairs these are.

        Raises:
            WrongRequest: none is given, and none has rules by which the first pairs are right.
        """
        from daxy import tasks
        from daxy.formats import parquet
        from daxy.languages import scan

        named = self.task
        if named is None and found.form == "parquet":
            named = parquet.provenance(self.file).get("task")
        if named is not None:
            return tasks.get(named)
        first = [each for part in found.parts.values() for each in part[:TRIED]][:TRIED]
        words = Counter(word for each in first for word in (*each.source, *each.target))
        of_scan = sum(count for word, count in words.items() if scan.is_word(word))
        if 2 * of_scan >= words.total():
            return tasks.get("nacs/simple" if _mirrored(first) else "scan/simple")
        for name in tasks.available():
            if name.startswith("transduction/"):
                task = tasks.get(name)
                with contextlib.suppress(WrongRequest):
                    if all(task.disagreement(each.source, each.target) is None for each in first):
                        return task
        unknown = "its first pairs fit the rules of no task"
        raise WrongRequest(f"{self.file}: {unknown}; expected --task TASK")

    def _checked(self, found: Examined) -> Result:
        """Return the answer on examples with worlds."""
        from daxy.tasks.gscan import repeated, shots

        dataset, wrong, taken = found
        splits = {name: dataset.counts[name] for name in dataset.parts}
        few = shots(dataset) if taken.kind == "generalization" else 0
        more = {"shots": few, "duplicates": repeated(dataset)}
        return self._answer("gscan", sum(splits.values()), wrong, more, splits, taken)

    def _answer(
        self,
        checked_as: str,
        count: int,
        wrong: Sequence[Disagreement],
        counts: Mapping[str, int],
        parts: Mapping[str, int],
        taken: Taken | None = None,
    ) -> Result:
        """Return the answer: counts in the first line, then the first disagreements."""
        facts = [f"{number:,} {SAID.get(name, name)}" for name, number in counts.items()]
        said = [counted(count, "example"), counted(len(wrong), "disagreement"), *facts]
        lines = [f"{self.file}: {', '.join(said)}"]
        sizes = ", ".join(f"{name} {number:,}" for name, number in parts.items())
        lines += [sizes] if sizes else []
        lines += [f"taken for {taken}"] if taken else []
        shown = wrong[: self.show]
        lines += [f"{self.file}:{'' if each.is_line else ' '}{each}" for each in shown]
        data = {
            "file": str(self.file),
            "checked_as": checked_as,
            "kind": taken and taken.kind,
            "examples": count,
            "disagreements": len(wrong),
            "parts": dict(parts),
            **counts,
            "first_disagreements": [each.as_json for each in shown],
        }
        return Result(data=data, text="\n".join(lines), exit_code=1 if wrong else 0)


def _mirrored(examples: Sequence[Example]) -> bool:
    """Return whether these are pairs of NACS: whether most sources begin with an action."""
    from daxy.languages import scan

    firsts = [scan.official_spelling(each.source[0]) for each in examples if each.source]
    return 2 * sum(first in scan.ACTIONS for first in firsts) > len(examples)


def _disagreements(task: Task[Any], parts: Mapping[str, Examples]) -> Iterator[Disagreement]:
    """Yield the pairs that disagree with the rules of a task, and why."""
    from daxy.formats.gscan_json import Disagreement

    for name, examples in parts.items():
        for number, (source, target) in enumerate(
            zip(examples.source, examples.target, strict=True)
        ):
            if problem := task.disagreement(source, target):
                yield Disagreement(name, number, problem)


VERB = Verify
