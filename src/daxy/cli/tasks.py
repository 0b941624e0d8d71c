"""List the tasks, or show one's card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.cli._data import TaskVerb, flag
from daxy.cli._result import Result
from daxy.core.errors import WrongRequest, require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from daxy.core.split import Option


@dataclass(frozen=True, kw_only=True)
class Tasks(TaskVerb):
    """List the tasks; with a name, show its card: rule, sizes, scores and statistics.

    Example:
        daxy tasks nacs/addprim_jump
    """

    task: tyro.conf.Positional[Annotated[str | None, tyro.conf.arg(metavar="TASK")]] = None
    """The task whose card to show."""

    def run(self) -> Result:
        """Return the list, or the card."""
        if self.task is not None:
            return self._card(self.task)
        usual = vars(type(self.data)())
        given = [flag(name, it) for name, it in vars(self.data).items() if it != usual[name]]
        wanted = "needs a task; expected its name"
        require(not given, f"{' '.join(given)} {wanted}")
        return _listed()

    def _card(self, name: str) -> Result:
        from dataclasses import asdict

        from rich.console import Group

        from daxy import metrics, tasks
        from daxy.cli._published import as_table, as_values, quoted_table, quoted_values
        from daxy.reproduction import published, references
        from daxy.tasks import in_one_line, typical

        task = tasks.get(name)
        sizes = task.published_sizes
        usual = self.data == type(self.data)()
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

        def with_figures(more: dict[str, Any], lines: str, options: Mapping[str, Option]) -> Result:
            figures, quoted = published.of_test(name, options), references.of_task(name)
            values = data | more
            values |= {"published": as_values(figures), "quoted": quoted_values(quoted)}
            return Result(data=values, text=Group(lines, *as_table(figures), *quoted_table(quoted)))

        def without(why: str) -> Result:
            lines = f"{task.card}- This split: {why}"
            return with_figures({"not_loaded": why}, lines, self.data.options)

        if task.grounded and usual:  # it is large, and takes a while
            return without(f"`daxy show {name}` generates it and shows its statistics")
        try:
            split = self.data.load(name)
        except WrongRequest as missing:
            if not usual:
                raise
            return without(str(missing))
        statistics = task.statistics(split)
        made = f"{split.provenance.source}, checksum {split.provenance.checksum}"
        sizes = ", ".join(f"{part} {len(rows)}" for part, rows in split.named.items())
        lines = [f"- This split: {sizes} ({made})"]
        lines += [
            f"- {fact[0].upper()}{fact[1:]}: {value:.1%}" for fact, value in statistics.items()
        ]
        shown = typical(split)
        lines += [f"- Example: {in_one_line(each)}" for each in shown]
        rule = split.provenance.rule
        more: dict[str, Any] = {
            "rule": rule,
            "provenance": asdict(split.provenance),
            "statistics": statistics,
        }
        more["examples"] = [
            {"source": list(each.source), "target": list(each.target)} for each in shown
        ]
        card = task.card_of(rule) + "\n".join(lines)
        return with_figures(more, card, split.provenance.options)


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
        table.add_row(family, f"{task.sizes.train:,}", f"{task.sizes.test:,}", task.summary)
    data = {
        "tasks": {task.name: task.summary for task in every},
        "sizes": {
            task.name: {"train": task.sizes.train, "test": task.sizes.test} for task in every
        },
    }
    return Result(data=data, text=table)


VERB = Tasks
