"""List the tasks, or show one's card."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.cli._data import TaskVerb
from daxy.cli._flags import flag
from daxy.cli._result import Result
from daxy.core.errors import WrongRequest, require
from daxy.tasks import in_one_line, typical

if TYPE_CHECKING:
    from collections.abc import Mapping

    from daxy.core.split import Option, Split
    from daxy.tasks import Task


@dataclass(frozen=True, kw_only=True)
class Tasks(TaskVerb):
    """List the tasks; with a name, show its card: rule, sizes, scores and statistics.

    Example:
        daxy tasks nacs/addprim_jump
    """

    task: tyro.conf.Positional[Annotated[str | None, tyro.conf.arg(metavar="TASK")]] = None
    """The task to show."""

    def run(self) -> Result:
        """Return the list, or the card."""
        if self.task is not None:
            return self._card(self.task)
        defaults = vars(type(self.data)())
        flags = [flag(name, it) for name, it in vars(self.data).items() if it != defaults[name]]
        require(not flags, f"{' '.join(flags)} needs a task; expected its name")
        return _listed()

    def _card(self, name: str) -> Result:
        from daxy import metrics, tasks

        task = tasks.get(name)
        sizes = task.published_sizes
        data: dict[str, Any] = {
            "task": task.name,
            "summary": task.summary,
            "paper": task.paper,
            "rule": task.rule,
            "metrics": list(task.metrics),
            "scores": {metric: metrics.get(metric).summary for metric in task.metrics},
            "sizes": asdict(task.sizes),
            "published_sizes": asdict(sizes) if sizes else None,
        }
        if files := task.files():
            data["files"] = asdict(files)
        try:
            split = self._split(task)
        except WrongRequest as error:
            if self.data != type(self.data)():
                raise
            text = f"{task.card}- This split: {error}"
            return _with_scores(data | {"not_loaded": str(error)}, text, self.data.options)
        rule, examples = split.provenance.rule, typical(split)
        data |= {
            "rule": rule,
            "provenance": asdict(split.provenance),
            "statistics": task.statistics(split),
            "examples": [
                {"source": list(each.source), "target": list(each.target)} for each in examples
            ],
        }
        counts = ", ".join(f"{part} {len(rows)}" for part, rows in split.named.items())
        origin = f"{split.provenance.source}, checksum {split.provenance.checksum}"
        lines = [f"- This split: {counts} ({origin})"]
        lines += [
            f"- {it[0].upper()}{it[1:]}: {share:.1%}" for it, share in data["statistics"].items()
        ]
        lines += [f"- Example: {in_one_line(each)}" for each in examples]
        text = task.card_of(rule) + "\n".join(lines)
        return _with_scores(data, text, split.provenance.options)

    def _split(self, task: Task[Any]) -> Split:
        is_default = self.data == type(self.data)()
        slow = f"`daxy show {task.name}` generates it and shows its statistics"
        require(not (task.grounded and is_default), slow)
        return self.data.load(task.name)


def _with_scores(data: dict[str, Any], text: str, options: Mapping[str, Option]) -> Result:
    """Return a card with the published and quoted scores of the task."""
    from rich.console import Group

    from daxy.cli._published import as_table, as_values, quoted_table, quoted_values
    from daxy.report import baselines
    from daxy.reproduction import published, references

    cells = published.of_test(data["task"], options)
    is_default = baselines.has_default_test(data["task"], options)
    quoted = references.of_task(data["task"]) if is_default else []
    data |= {"published": as_values(cells), "quoted": quoted_values(quoted)}
    return Result(data=data, text=Group(text, *as_table(cells), *quoted_table(quoted)))


def _listed() -> Result:
    from rich.table import Table

    from daxy import tasks

    every = [tasks.get(name) for name in tasks.available()]
    table = Table(box=None, pad_edge=False)
    for head in ("task", "train", "test", "tests"):
        table.add_column(head, overflow="fold", no_wrap=head in ("train", "test"))
    first_of = {task.family: task for task in reversed(every)}
    for family in dict.fromkeys(task.family for task in every):
        task = first_of[family]
        sizes = task.sizes.train, task.sizes.test
        counts = [f"{size:,}" if size else "" for size in sizes]
        table.add_row(family, *counts, task.summary)
    data = {
        "tasks": {task.name: task.summary for task in every},
        "sizes": {
            task.name: {"train": task.sizes.train, "test": task.sizes.test} for task in every
        },
    }
    return Result(data=data, text=table)


VERB = Tasks
