"""List the tasks, or show one's card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from daxy.cli._data import OfTask, with_data
from daxy.cli._verb import Result
from daxy.core.errors import WrongRequest


@dataclass(frozen=True, kw_only=True)
class Tasks(OfTask):
    """List the tasks; with a name, show its card: rule, sizes, scores and statistics.

    Example:
        daxy tasks nacs/addprim_jump
    """

    task: tyro.conf.Positional[Annotated[str | None, tyro.conf.arg(metavar="TASK")]] = None
    """The task whose card to show."""

    def run(self) -> Result:
        """Return the list, or the card."""
        return _listed() if self.task is None else self._card(self.task)

    def _card(self, name: str) -> Result:
        from dataclasses import asdict

        from rich.console import Group

        from daxy import tasks
        from daxy.cli._published import as_table, as_values
        from daxy.experiments import papers

        task = tasks.get(name)
        data: dict[str, Any] = {
            "task": task.name,
            "summary": task.summary,
            "paper": task.paper,
            "metrics": list(task.metrics),
            "published_sizes": asdict(task.sizes) if task.published else None,
            "published": as_values(published := papers.on_test(name, self.data)),
        }
        figures = as_table(published)
        if task.grounded and self.data == type(self.data)():  # it is large, and takes a while
            line = f"- This split: `daxy show {name}` makes it, and says what it is like"
            return Result(data=data, text=Group(f"{task.card}{line}", *figures))
        try:
            split = self.data.load(name)
        except WrongRequest as missing:
            if self.data != type(self.data)():
                raise
            return Result(data=data, text=Group(f"{task.card}- This split: {missing}", *figures))
        statistics = task.statistics(split)
        made = f"{split.provenance.source}, checksum {split.provenance.checksum}"
        sizes = ", ".join(f"{part} {len(rows)}" for part, rows in split.named.items())
        lines = [f"- This split: {sizes} ({made})"]
        lines += [
            f"- {fact[0].upper()}{fact[1:]}: {value:.1%}" for fact, value in statistics.items()
        ]
        data |= {"provenance": asdict(split.provenance), "statistics": statistics}
        card = task.card_of(split.provenance.rule)
        return Result(data=data, text=Group(card + "\n".join(lines), *figures))


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
    return Result(data={"tasks": {task.name: task.summary for task in every}}, text=table)


VERB = with_data(Tasks)
